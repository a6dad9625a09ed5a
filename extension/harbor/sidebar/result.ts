// What a tool has answered, in pieces that can be shown.
//
// Pure. Must never make anything of a result but text, and images of a few kinds that hold nothing but pixels.

import { isFields } from "../../shared/ports/wire.ts";

export type Piece =
  | { is: "text"; label: string; text: string }
  /** JSON that is flat: its columns, and a cell for each; one object is rows of two. */
  | { is: "table"; label: string; head: string[] | undefined; rows: string[][]; text: string }
  | { is: "image"; url: string; label: string }
  /** Something that is only named. */
  | { is: "other"; words: string };

export interface Shown {
  /** Whether the tool says that it has failed. */
  failed: boolean;
  pieces: Piece[];
}

/** No SVG: it is a document. */
const IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const MOST_IMAGE = 8 * 1024 * 1024;
const MOST_PIECES = 50;

/** Reads MCP's CallToolResult. */
export function shownOf(result: unknown): Shown {
  const { content, structuredContent, isError } = isFields(result) ? result : ({} as { [name: string]: unknown });
  const items = Array.isArray(content) ? content : [];
  const pieces = items.slice(0, MOST_PIECES).map(pieceOf);
  if (items.length > MOST_PIECES) pieces.push({ is: "other", words: `${items.length - MOST_PIECES} more pieces` });
  if (structuredContent !== undefined && !repeats(items, structuredContent)) {
    pieces.push(jsonOf("Structured content", structuredContent));
  }
  return { failed: isError === true, pieces };
}

function pieceOf(item: unknown): Piece {
  const { type, text, mimeType, data, resource, uri } = isFields(item) ? item : ({} as { [name: string]: unknown });
  if (type === "text" && typeof text === "string") return readable(text);
  if (type === "image") return imageOf(mimeType, data);
  if (type === "audio") return { is: "other", words: `Sound (${mimeType}), which the panel does not play` };
  if (type === "resource_link") return { is: "other", words: `A link to ${uri}` };
  if (type === "resource" && isFields(resource)) {
    const { uri: from, text: inside, mimeType: kind } = resource;
    if (typeof inside === "string") return { is: "text", label: String(from), text: inside };
    if (typeof kind === "string" && IMAGES.includes(kind)) return imageOf(kind, resource["blob"]);
    return { is: "other", words: `${from} (${kind ?? "of no known kind"})` };
  }
  return { is: "other", words: "A piece of an unknown kind" };
}

/** JSON in one line, as most servers send it, as a table or in lines. */
function readable(text: string): Piece {
  const plain: Piece = { is: "text", label: "Text", text };
  if (!/^\s*[[{]/.test(text)) return plain;
  try {
    const piece = jsonOf("Text", JSON.parse(text));
    return piece.is === "text" && text.trim().includes("\n") ? plain : piece;
  } catch {
    return plain;
  }
}

/** More than so many of it stand as JSON. */
const MOST_ROWS = 200;
const MOST_COLUMNS = 8;

function jsonOf(label: string, value: unknown): Piece {
  const text = JSON.stringify(value, null, 2);
  if (isFields(value)) {
    const rows = Object.entries(value);
    if (rows.length > 0 && rows.length <= MOST_ROWS && rows.every(([, one]) => isCell(one))) return { is: "table", label, head: undefined, rows: rows.map(([key, one]) => [key, cellOf(one)]), text };
  }
  if (Array.isArray(value) && value.length > 0 && value.length <= MOST_ROWS && value.every(isFields)) {
    const head = [...new Set(value.flatMap((one) => Object.keys(one)))];
    const isFlat = head.length > 0 && head.length <= MOST_COLUMNS && value.every((one) => Object.values(one).every(isCell));
    if (isFlat) return { is: "table", label, head, rows: value.map((one) => head.map((key) => cellOf(one[key]))), text };
  }
  return { is: "text", label, text };
}

/** A value of one line: a text, a number, yes or no, nothing, or a short list of those. */
function isCell(value: unknown): boolean {
  if (Array.isArray(value)) return value.length <= 10 && value.every((one) => !Array.isArray(one) && isCell(one));
  return value === null || typeof value === "number" || typeof value === "boolean" || (typeof value === "string" && value.length <= 2_000);
}

function cellOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return value.map(cellOf).join(", ");
  return typeof value === "boolean" ? (value ? "yes" : "no") : String(value);
}

function imageOf(mimeType: unknown, data: unknown): Piece {
  const known = typeof mimeType === "string" && IMAGES.includes(mimeType);
  const whole = typeof data === "string" && data.length <= MOST_IMAGE && /^[A-Za-z0-9+/\s]+={0,2}\s*$/.test(data);
  if (!known || !whole) return { is: "other", words: `An image (${mimeType}) that is not shown here` };
  return { is: "image", url: `data:${mimeType};base64,${data.replace(/\s/g, "")}`, label: `Image (${mimeType})` };
}

/** MCP has servers say structured content a second time as text. */
function repeats(items: unknown[], structured: unknown): boolean {
  const [only] = items;
  if (items.length !== 1 || !isFields(only) || typeof only["text"] !== "string") return false;
  try {
    const said: unknown = JSON.parse(only["text"]);
    return JSON.stringify(said) === JSON.stringify(structured);
  } catch {
    return false;
  }
}
