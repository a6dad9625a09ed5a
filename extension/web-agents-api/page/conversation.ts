// A conversation with a model: what was said, how full the model's window is, one prompt after the other.
//
// Owns the history, which is in the page: a background that the browser ends loses nothing of it. Both windows onto models,
// `LanguageModel` and `window.ai`, are made of it. Must never hold more than was said and answered to the end.

import { CapturedPromise, then, trim } from "./builtins.ts";
import { Ending } from "./endings.ts";
import { failure, modelFailed } from "./errors.ts";
import { type Draft, type Message, estimateOf, messagesOf } from "./input.ts";
import { add, joined, placeOf } from "./lists.ts";
import type { Speaking } from "./native_model.ts";
import { type Filled, filled } from "./streams.ts";
import type { Tools } from "./tools.ts";
import { type Said, Turn, type Wishes } from "./turn.ts";

export class Conversation implements Speaking {
  readonly tools: Tools;
  readonly wishes: Wishes;
  /** How many tokens the model looks at; Infinity where nobody knows. */
  readonly window: number;
  #history: Message[];
  #usage: number;
  #tail: Promise<void> = new CapturedPromise((resolve) => resolve());
  /** Called when what was said first is left out, for want of room. */
  onOverflow: () => void = () => undefined;

  constructor(tools: Tools, wishes: Wishes, window: number, history: Message[] = [], usage = estimateOf(history)) {
    this.tools = tools;
    this.wishes = wishes;
    this.window = window;
    this.#history = history;
    this.#usage = history.length === 0 ? 0 : usage;
  }

  get usage(): number {
    return this.#usage;
  }

  get isEmpty(): boolean {
    return this.#history.length === 0;
  }

  /** The same, from here on apart. */
  copy(): Conversation {
    return new Conversation(this.tools, this.wishes, this.window, joined(this.#history, []), this.#usage);
  }

  /** Says something without asking for an answer. */
  append(drafts: readonly Draft[], ending: Ending): Promise<void> {
    return this.#next(ending, async () => {
      const input = await messagesOf(drafts);
      ending.check();
      this.#makeRoom(estimateOf(input));
      this.#history = joined(this.#history, input);
      this.#usage += estimateOf(input);
    });
  }

  /** Asks, and gives what was said, once that is all. */
  prompt(drafts: readonly Draft[], wishes: Wishes, ending: Ending, heard?: (text: string) => void, begun?: (turn: Turn) => void): Promise<Said> {
    return this.#next(ending, async () => {
      const input = await messagesOf(drafts);
      // Nothing was said at all, or only by the system: no model is asked, which some would answer with nothing and others with an error.
      if (isSilent(this.#history) && isSilent(input)) return { messages: [], text: "", calls: [], usage: 0 };
      const turn = new Turn(this.tools, { ...this.wishes, ...wishes }, ending, heard);
      begun?.(turn);
      this.#makeRoom(estimateOf(input));
      const said = await this.#ask(turn, input);
      ending.check();
      this.#history = joined(joined(this.#history, input), said.messages);
      this.#usage = said.usage > 0 ? said.usage : estimateOf(this.#history);
      return said;
    });
  }

  /** Where the window is full all the same, what was said first is left out, and it is asked again: nothing has come of it. */
  async #ask(turn: Turn, input: readonly Message[]): Promise<Said> {
    for (;;) {
      try {
        return await turn.run(this.#history, input);
      } catch (error) {
        const { details } = (error ?? {}) as { details?: { cause?: unknown; requested?: unknown } };
        if (details?.cause !== "context_full" || details.requested !== undefined) throw error;
        if (!this.#forgetOldest()) throw full(estimateOf(input), this.window);
        this.onOverflow();
      }
    }
  }

  #makeRoom(needed: number): void {
    if (needed > this.window) throw full(needed, this.window);
    let isOver = false;
    while (this.#usage + needed > this.window && this.#forgetOldest()) isOver = true;
    if (isOver) this.onOverflow();
  }

  /** Leaves out the oldest turn: from the first message that is not the system's to the next one of the user. */
  #forgetOldest(): boolean {
    const before = this.#history;
    let first = 0;
    while (first < before.length && before[first]?.role === "system") first += 1;
    if (first === before.length) return false;
    let next = first + 1;
    while (next < before.length && before[next]?.role !== "user") next += 1;
    const kept: Message[] = [];
    const left: Message[] = [];
    for (let at = 0; at < before.length; at += 1) add(at >= first && at < next ? left : kept, before[at] as Message);
    this.#history = kept;
    this.#usage = kept.length === 0 ? 0 : this.#usage > estimateOf(left) ? this.#usage - estimateOf(left) : estimateOf(kept);
    return true;
  }

  /** One after the other. What is ended while it waits, or works, rejects at once. */
  #next<T>(ending: Ending, work: () => Promise<T>): Promise<T> {
    const before = this.#tail;
    let free: () => void = () => undefined;
    this.#tail = new CapturedPromise<void>((resolve) => {
      free = resolve;
    });
    const done = async (): Promise<T> => {
      await before;
      try {
        ending.check();
        return await work();
      } finally {
        ending.done();
        free();
      }
    };
    return new CapturedPromise((resolve, reject) => {
      ending.onEnd(reject);
      then(done(), resolve as (value: unknown) => void, reject);
    });
  }
}

function isSilent(messages: readonly Message[]): boolean {
  const isSaid = ({ role, content, toolCalls }: Message) => role !== "system" && (toolCalls !== undefined || typeof content !== "string" || trim(content) !== "");
  return placeOf(messages, isSaid) < 0;
}

/** What a session begins with; throws where the model's window does not hold it. */
export function heldBy(window: number, first: Message[]): Message[] {
  const needed = estimateOf(first);
  if (needed > window) throw full(needed, window);
  return first;
}

function full(requested: number, quota: number): Error {
  return modelFailed("the input is larger than the model's window", { cause: "context_full", requested, quota });
}

/** A prompt as a stream of what `put` makes of each piece. `last` says what comes at the end. */
export function streamed<T>(
  conversation: Speaking,
  drafts: readonly Draft[],
  wishes: Wishes,
  ending: Ending,
  make: { piece(text: string): T; end(said: Said, put: (value: T) => void): void; failed(error: unknown, out: Filled<T>): void },
): ReadableStream<T> {
  let turn: Turn | undefined;
  const out = filled<T>(
    () => turn?.read(),
    () => ending.end(failure("ERR_CANCELLED", "nobody reads on")),
  );
  ending.onEnd((reason) => out.fail(reason));
  const heard = (text: string) => out.put(make.piece(text));
  const prompted = conversation.prompt(drafts, wishes, ending, heard, (begun) => (turn = begun));
  const done = (said: unknown) => {
    make.end(said as Said, (value) => out.put(value));
    out.close();
  };
  then(prompted, done, (error) => make.failed(error, out));
  return out.stream;
}

