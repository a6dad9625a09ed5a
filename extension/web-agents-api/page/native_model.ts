// The browser's own LanguageModel, for text sessions where Harbor is not there.
//
// Owns how its words and errors read in `window.ai`. Must never be used while Harbor answers: a page whose person has refused gets no other model.

import { apply, native, readFrom, readerOf } from "./builtins.ts";
import { Ending } from "./endings.ts";
import { failure, modelFailed } from "./errors.ts";
import type { Draft, Message } from "./input.ts";
import { mapped } from "./lists.ts";
import type { Said, Turn, Wishes } from "./turn.ts";

/** What the standard of 2024 called the states. */
export const WORDS = { available: "readily", downloadable: "after-download", downloading: "after-download", unavailable: "no" } as const;
export type Word = (typeof WORDS)[keyof typeof WORDS];

interface Session {
  prompt: unknown;
  promptStreaming: unknown;
  clone: unknown;
}

/** What is sent and said in a conversation, whoever's the model is. */
export interface Speaking {
  prompt(drafts: readonly Draft[], wishes: Wishes, ending: Ending, heard?: (text: string) => void, begun?: (turn: Turn) => void): Promise<Said>;
  /** The same, from here on apart. `life` ends it. */
  copy(life: Ending): Speaking | Promise<Speaking>;
}

/** Whether the browser has a model of its own that can be used. */
export async function nativeWord(): Promise<Word> {
  const Native = native.LanguageModel as { availability?: unknown } | undefined;
  if (typeof Native?.availability !== "function") return "no";
  try {
    const state = (await apply(Native.availability, Native, [])) as keyof typeof WORDS;
    return WORDS[state] ?? "no";
  } catch {
    return "no";
  }
}

/** A conversation with it; `undefined`: it has none. */
export async function nativeConversation(first: readonly Message[], life: Ending): Promise<Speaking | undefined> {
  const word = await nativeWord();
  life.check();
  if (word === "no") return undefined;
  const Native = native.LanguageModel as { create: Function };
  const initialPrompts = mapped(first, ({ role, content }) => ({ role, content: typeof content === "string" ? content : mapped(content as { text: string }[], ({ text }) => ({ type: "text", value: text })) }));
  try {
    return new OwnModel((await apply(Native.create, Native, [{ __proto__: null, initialPrompts, signal: life.signal }])) as Session);
  } catch (error) {
    life.check();
    const isOfClick = word === "after-download" && (error as { name?: unknown }).name === "NotAllowedError";
    throw isOfClick ? failure("ERR_USER_GESTURE_REQUIRED", "the browser fetches its model at a click only") : codedOf(error);
  }
}

class OwnModel implements Speaking {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async prompt(drafts: readonly Draft[], _: Wishes, ending: Ending, heard?: (text: string) => void): Promise<Said> {
    const input = (drafts[0]?.parts[0] as { text: string }).text;
    const given = [input, { __proto__: null, signal: ending.signal }] as const;
    const { prompt, promptStreaming } = this.#session;
    try {
      const text = heard === undefined ? `${await apply(prompt as Function, this.#session, given)}` : await read(apply(promptStreaming as Function, this.#session, given), heard);
      return { messages: [], text, calls: [], usage: 0 };
    } catch (error) {
      ending.check();
      throw codedOf(error);
    } finally {
      ending.done();
    }
  }

  async copy(life: Ending): Promise<Speaking> {
    return new OwnModel((await apply(this.#session.clone as Function, this.#session, [{ __proto__: null, signal: life.signal }])) as Session);
  }
}

async function read(stream: ReadableStream<unknown>, heard: (text: string) => void): Promise<string> {
  const reader = readerOf(stream);
  let all = "";
  for (;;) {
    const { done, value } = await readFrom(reader);
    if (done) return all;
    all += value;
    if (value !== "") heard(`${value}`);
  }
}

/** Its errors, with the codes that those of `window.ai` have. */
function codedOf(error: unknown): Error {
  const { name, message, requested, quota } = (error ?? {}) as { [name: string]: unknown };
  if (name === "NotAllowedError") return failure("ERR_PERMISSION_DENIED", message);
  if (name === "QuotaExceededError") return modelFailed(message, { cause: "context_full", requested, quota });
  return modelFailed(message, { cause: name === "NotReadableError" ? "refused" : `${name}` });
}
