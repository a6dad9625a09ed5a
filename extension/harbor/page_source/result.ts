// What a page says of its tools and gives as their results, as the bridge takes it.
//
// Pure. Owns these forms. Must never take anything a page says for checked: also what was looked at in the page is looked at here.

import { type Fields, isFields } from "../../shared/ports/wire.ts";
import type { Requests } from "../../shared/protocol/generated/messages.ts";
import { type Called, MOST, MOST_MESSAGE, MOST_RESULT, MOST_TOOLS, type Offer } from "./forms.ts";

/** A tool that is offered, and the JSON by which it is known again. */
export interface Marked {
  offer: Offer;
  mark: string;
}

/** One tool has so many bytes, as the bridge takes it, and all of a page have so many: one message holds them. */
const MOST_OF_ONE = 30_000;
const MOST_BYTES = 600_000;

/** Reads a list. What does not fit is left out. */
export function parseTools(text: unknown): Marked[] {
  const read = typeof text === "string" ? parsed(text) : undefined;
  const tools: Marked[] = [];
  let left = MOST_BYTES;
  for (const value of Array.isArray(read) ? read.slice(0, MOST_TOOLS) : []) {
    const mark = JSON.stringify(value);
    const size = new TextEncoder().encode(mark).length;
    if (!isOffer(value) || size > MOST_OF_ONE || size > left || tools.some(({ offer }) => offer.name === value.name)) continue;
    left -= size;
    const { name, title, description, inputSchema, annotations } = value;
    tools.push({ mark, offer: { name, ...(title === undefined ? {} : { title }), description, ...(inputSchema === undefined ? {} : { inputSchema }), ...(annotations === undefined ? {} : { annotations }) } });
  }
  return tools;
}

function isOffer(value: unknown): value is Offer {
  if (!isFields(value)) return false;
  const { name, title = "", description, inputSchema = {}, annotations = {} } = value;
  const isText = (text: unknown, most: number) => typeof text === "string" && text.length <= most;
  const isPlain = (part: unknown, most: number) => isFields(part) && JSON.stringify(part).length <= most;
  return typeof name === "string" && /^[\w.-]{1,128}$/.test(name) && isText(title, MOST.title) && description !== "" && isText(description, MOST.description) && isPlain(inputSchema, MOST.inputSchema) && isPlain(annotations, MOST.annotations);
}

/** What a source is called for people: the page's title, or where it has none that can be shown its host. At most 64 bytes. */
export function labelOf(title: string, host: string): string {
  const shown = title.replace(/[\p{C}\s]+/gu, " ").trim();
  let label = "";
  for (const letter of shown === "" ? host : shown) {
    if (new TextEncoder().encode(label + letter).length > 64) break;
    label += letter;
  }
  return label.trim();
}

type SourceResult = Omit<Requests["source_result"], "call_id">;

const TOLD = {
  gone: "the page that offered this tool is gone",
  changed: "the page has changed or removed this tool since it was listed: list the tools again",
  long: `the page's tool gave more than ${MOST_RESULT} characters`,
};

/** The answer to a call that has none of the page's. */
export const failed = (code: string, message: string): SourceResult => ({ error: { code, message } });
export const gone = (): SourceResult => failed("gone", TOLD.gone);

/** The answer to a call. */
export function answerOf(called: unknown): SourceResult {
  const { is, text } = (isFields(called) ? called : {}) as Partial<Called>;
  if (is === "changed" || is === "long") return failed(is, TOLD[is]);
  if (typeof text !== "string" || (is !== "result" && is !== "threw")) return gone();
  if (is === "threw") return { result: { content: [{ type: "text", text: text.slice(0, MOST_MESSAGE) || "the page's tool failed, and said nothing" }], isError: true } };
  return text.length > MOST_RESULT ? failed("long", TOLD.long) : { result: resultOf(text) as NonNullable<SourceResult["result"]> };
}

/** MCP's CallToolResult: one that the page made as it is, else what it gave as a text. */
function resultOf(text: string): Fields {
  const value = parsed(text);
  if (typeof value === "string") return { content: [{ type: "text", text: value }] };
  if (!isFields(value)) return { content: [{ type: "text", text }] };
  const { content, structuredContent, isError } = value;
  if (!Array.isArray(content) || !content.every((part) => isFields(part) && typeof part["type"] === "string")) return { content: [{ type: "text", text }], structuredContent: value };
  return { content, ...(isFields(structuredContent) ? { structuredContent } : {}), ...(isError === true ? { isError } : {}) };
}

/** What a text says as JSON; itself where it is none. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A call, as the bridge sends it. */
export interface SourceCall {
  call_id: string;
  source_id: string;
  tool_name: string;
  /** JSON. */
  input: string;
  timeout_ms: number;
}

/** Whether a push is about a page's source; all others are the browser's. */
export const isOfPage = ({ source_id }: Fields): boolean => typeof source_id === "string" && source_id.startsWith("page:");

export function parseSourceCall({ call_id, source_id, tool_name, arguments: given, timeout_ms }: Fields): SourceCall | undefined {
  if (typeof call_id !== "string" || typeof source_id !== "string" || typeof tool_name !== "string") return undefined;
  return { call_id, source_id, tool_name, input: JSON.stringify(isFields(given) ? given : {}), timeout_ms: typeof timeout_ms === "number" ? timeout_ms : 60_000 };
}
