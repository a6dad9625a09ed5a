// The model of the mock: what a script says, as an answer of Harbor's.
//
// Owns how an answer is cut into pieces. Must never say what no script said, but for an echo.

import { CodedError } from "../shared/protocol/codes.ts";
import { bytesOf } from "../shared/protocol/page.ts";
import type { MockSaid, MockScript, MockTold } from "../types/mock.d.ts";
import { type Schema, leastOf } from "./least.ts";

/** What came of asking it. */
export interface Answer {
  text: string;
  calls: { id: string; name: string; arguments: object }[];
}

let calls = 0;

/** Asks it; `piece` hears its text as it comes. */
export async function asked({ model }: MockScript, told: MockTold, piece: (text: string) => void): Promise<Answer> {
  if (model === null) throw new CodedError("ERR_MODEL_FAILED", "no model is available for this", { cause: "no_model" });
  const say = model ?? echo;
  try {
    return await heard(say, told, piece);
  } catch (error) {
    told.signal.throwIfAborted();
    throw codedOf(error, "ERR_MODEL_FAILED");
  }
}

async function heard(say: NonNullable<MockScript["model"]>, told: MockTold, piece: (text: string) => void): Promise<Answer> {
  const given = await unlessAborted(say(told), told.signal);
  const { text = "", calls: wanted = [] } = typeof given === "string" || isPieces(given) ? { text: given } : (given as MockSaid);
  let all = "";
  const pieces = typeof text === "string" ? (text.match(/\S+\s*|\s+/g) ?? [])[Symbol.iterator]() : text[Symbol.asyncIterator]();
  for (;;) {
    const next = await unlessAborted(pieces.next(), told.signal);
    if (next.done) break;
    all += next.value;
    piece(next.value);
    // As a model's, they come one after the other.
    await new Promise((resolve) => setTimeout(resolve, 0));
    told.signal.throwIfAborted();
  }
  return { text: all, calls: wanted.map(({ name, arguments: args = {} }) => ({ id: `call_${(calls += 1)}`, name, arguments: args })) };
}

const isPieces = (given: unknown): given is AsyncIterable<string> => typeof (given as { [Symbol.asyncIterator]?: unknown } | null)?.[Symbol.asyncIterator] === "function";

/** A script may never answer; who asked can leave all the same. */
function unlessAborted<T>(work: T | Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    Promise.resolve(work).then(resolve, reject);
  });
}

/** What a script throws, with a code that pages see. */
export function codedOf(error: unknown, otherwise: string): CodedError {
  const { code, message, details } = Object(error) as { [name: string]: unknown };
  const text = typeof message === "string" ? message : `${error}`;
  return new CodedError(typeof code === "string" ? code : otherwise, text, details);
}

/** The same as the form in which Harbor answers. */
export function responseOf({ text, calls }: Answer, told: MockTold): object {
  const usage = { input_tokens: tokens(JSON.stringify(told.messages)), output_tokens: tokens(text), cached_tokens: 0, reasoning_tokens: 0, exactness: "estimated" };
  const message = { role: "assistant", content: text, ...(calls.length > 0 ? { toolCalls: calls } : {}) };
  return { message, usage, finishReason: calls.length > 0 ? "tool_calls" : "stop" };
}

const tokens = (text: string): number => Math.ceil(bytesOf(text) / 3);

/** What was said last, as a text. */
export function promptOf(messages: MockTold["messages"]): string {
  const content = messages.filter(({ role }) => role !== "system").at(-1)?.content ?? "";
  return typeof content === "string" ? content : (content as { text?: string }[]).map(({ text }) => text ?? "").join("");
}

function echo({ prompt, schema }: MockTold): string {
  return schema === undefined ? prompt : JSON.stringify(leastOf(schema as Schema));
}
