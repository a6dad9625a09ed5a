// One prompt of a session: from what the page says to the model's last word, with the calls of the page's own tools between.
//
//   messages ─► request ─► pieces … answer ─┬─ calls of tools that the session runs ─► results ─► the next request
//                                           └─ else: the answer, and all that was said, for the history
//
// Owns the rounds and their credit. Must never change the history itself: a prompt that fails or is aborted leaves it as it was.

import { CapturedPromise, reasonOf, stringify, then } from "./builtins.ts";
import { type Asked, begin } from "./channel.ts";
import type { Ending } from "./endings.ts";
import { modelFailed } from "./errors.ts";
import { type Message, tokensOf } from "./input.ts";
import { add, joined, mapped } from "./lists.ts";
import { type Call, type Tools, ran } from "./tools.ts";
import { MAX_PROMPT, bytesOf, isTooLarge } from "../../shared/protocol/page.ts";

/** How often a model may call tools before it has to answer. */
const MOST_ROUNDS = 20;

/** Credit is given for so many pieces at a time. */
const TURN = 32;

/** What else is said to the model. All of it is optional. */
export interface Wishes {
  model?: unknown;
  provider?: unknown;
  temperature?: unknown;
  top_p?: unknown;
  response_schema?: unknown;
}

/** What a model answered, as the bridge tells it (ChatResponse). */
export interface Response {
  message: Message;
  usage: { input_tokens: number; output_tokens: number; exactness: string };
  finishReason: string;
}

/** What came of a prompt. */
export interface Said {
  /** All that was said after the input, for the history. */
  messages: Message[];
  text: string;
  /** Calls that are the page's to run. */
  calls: Call[];
  /** Tokens that the conversation has now; 0 where nobody has counted. */
  usage: number;
}

export class Turn {
  readonly #tools: Tools;
  readonly #wishes: Wishes;
  readonly #ending: Ending;
  /** Where pieces go; without it, there are none. */
  readonly #heard: ((text: string) => void) | undefined;
  #asked: Asked | undefined;
  #unread = 0;
  #skipped = 0;

  constructor(tools: Tools, wishes: Wishes, ending: Ending, heard: ((text: string) => void) | undefined) {
    this.#tools = tools;
    this.#wishes = wishes;
    this.#ending = ending;
    this.#heard = heard;
  }

  /** Asks the model, as often as it calls tools that the session runs. */
  async run(history: readonly Message[], input: readonly Message[]): Promise<Said> {
    const added: Message[] = [];
    let text = "";
    for (let round = 0; ; round += 1) {
      this.#ending.check();
      const { message, usage, finishReason } = await this.#ask(joined(joined(history, input), added));
      if (finishReason === "error") throw modelFailed("the provider refused to continue", { cause: "refused" });
      add(added, message);
      text += textOf(message.content);
      const calls = mapped(message.toolCalls ?? [], ({ id, name, arguments: args }) => ({ id, name, arguments: args }));
      const isOpen = this.#tools.execute === undefined;
      if (calls.length === 0 || isOpen) {
        const counted = usage.exactness === "unknown" ? 0 : usage.input_tokens + usage.output_tokens;
        return { messages: added, text, calls, usage: counted };
      }
      if (round === MOST_ROUNDS) throw modelFailed(`the model called tools ${MOST_ROUNDS} times without an answer`);
      await this.#run(calls, added);
    }
  }

  /** The page has read what came. */
  read(): void {
    if (this.#unread < TURN) return;
    this.#asked?.more(this.#unread);
    this.#unread = 0;
  }

  /** All at the same time; the results in the order of the calls. */
  async #run(calls: readonly Call[], added: Message[]): Promise<void> {
    const under = mapped(calls, (call) => ran(this.#tools, call));
    for (let at = 0; at < calls.length; at += 1) {
      const { text, isError } = await this.#unlessEnded(under[at] as ReturnType<typeof ran>);
      add(added, { role: "tool", toolCallId: (calls[at] as Call).id, content: text, ...(isError ? { isError } : {}) });
    }
  }

  /** A page's own function may never end; the prompt does. */
  #unlessEnded<T>(work: Promise<T>): Promise<T> {
    return new CapturedPromise((resolve, reject) => {
      this.#ending.onEnd(reject);
      then(work, resolve as (value: unknown) => void, reject);
    });
  }

  async #ask(messages: readonly Message[]): Promise<Response> {
    const { declared } = this.#tools;
    const tools = declared.length > 0 ? { tools: declared } : {};
    const body = stringify({ messages, ...tools, ...this.#wishes });
    if (isTooLarge(body)) {
      const details = { cause: "context_full", requested: tokensOf(bytesOf(body)), quota: tokensOf(MAX_PROMPT) };
      throw modelFailed(`a conversation can have at most ${MAX_PROMPT} bytes`, details);
    }
    this.#unread = 0;
    const heard = this.#heard;
    const onChunk = heard === undefined ? undefined : (chunk: unknown) => this.#came(chunk, heard);
    this.#asked = begin("prompt", { body, stream: heard !== undefined }, { signal: this.#ending.signal, onChunk });
    try {
      return (await this.#asked.answer) as Response;
    } catch (error) {
      // The reason is the page's, whatever else came first.
      throw this.#ending.isEnded ? reasonOf(this.#ending.signal) : error;
    }
  }

  #came(chunk: unknown, heard: (text: string) => void): void {
    const { type, text } = chunk as { type: unknown; text?: unknown };
    if (type === "text" && typeof text === "string" && text !== "") {
      this.#unread += 1;
      heard(text);
      return;
    }
    // Nobody reads it, so nobody waits for it.
    this.#skipped += 1;
    if (this.#skipped < TURN) return;
    this.#skipped = 0;
    this.#asked?.more(TURN);
  }
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  let text = "";
  const parts = (content ?? []) as readonly { type: unknown; text?: unknown }[];
  for (let at = 0; at < parts.length; at += 1) if (parts[at]?.type === "text") text += `${parts[at]?.text ?? ""}`;
  return text;
}
