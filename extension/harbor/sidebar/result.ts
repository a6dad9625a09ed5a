// What a tool has answered, in pieces that can be shown.
//
// Pure. Must never make anything of a result but text, and images of a few kinds that hold nothing but pixels.

import { isFields } from "../../shared/ports/wire.ts";

export type Piece =
  | { is: "text"; label: string; text: string }
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
    pieces.push({ is: "text", label: "Structured content", text: JSON.stringify(structuredContent, null, 2) });
  }
  return { failed: isError === true, pieces };
}

function pieceOf(item: unknown): Piece {
  const { type, text, mimeType, data, resource, uri } = isFields(item) ? item : ({} as { [name: string]: unknown });
  if (type === "text" && typeof text === "string") return { is: "text", label: "Text", text: readable(text) };
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

/** JSON in one line, as most servers send it, in lines. */
function readable(text: string): string {
  if (!/^\s*[[{]/.test(text) || text.trim().includes("\n")) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
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
