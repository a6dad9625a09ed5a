// Runs with tools of the page's own: the person's model does the task, and the page runs the calls.
//
//   run ─► prompt ─► token … answer ─┬─ calls: tool_call, ask ─► the page ─► run_answer: tool_result ─► the next prompt
//                                    └─ none: final
//
// Owns the order of that, and the asks that are open in one document. Must never reach a tool of the person's: what a page's tool says is the
// page's word, and here it leads to nothing but the model's next words. It takes `model:prompt`, as a session with the same tools would.

import type { Context } from "../shared/ports/answerer.ts";
import type { Caller } from "../shared/ports/caller.ts";
import { type Fields, isFields } from "../shared/ports/wire.ts";
import { CodedError, failureOf } from "../shared/protocol/codes.ts";
import { MAX_PROMPT, NOBODY, isTooLarge } from "../shared/protocol/page.ts";
import type { Asker } from "../shared/protocol/peer.ts";
import type { OwnTool, RunAnswer, RunWish } from "../shared/protocol/runs.ts";

/** Calls of a run, where the page says nothing; and how often a model may call tools before it has to answer. */
const CALLS = 5;
const MOST_ROUNDS = 20;

interface Call {
  id: string;
  name: string;
  arguments: unknown;
}

/** What came of a call. */
type Outcome = { result: Fields } | { error: { code: string; message: string } };

/** What the page of one document is asked to run. */
export class Asks {
  readonly #open = new Map<number, (answer: RunAnswer) => void>();
  #last = 0;

  /** Asks by `tell`, and waits for the answer; rejects with the signal's reason. */
  async ask(tell: (ask: number) => void, signal: AbortSignal): Promise<RunAnswer> {
    this.#last += 1;
    const id = this.#last;
    let stop = (): void => undefined;
    try {
      return await new Promise((resolve, reject) => {
        stop = () => reject(signal.reason);
        signal.addEventListener("abort", stop);
        if (signal.aborted) return stop();
        this.#open.set(id, resolve);
        tell(id);
      });
    } finally {
      signal.removeEventListener("abort", stop);
      this.#open.delete(id);
    }
  }

  /** The page's word. A second one for the same, or one for nothing, is nobody's. */
  answered(answer: RunAnswer): void {
    this.#open.get(answer.ask)?.(answer);
  }
}

export class OwnRun {
  readonly #asker: Asker;
  readonly #harbor: Pick<Caller, "call">;
  readonly #context: Pick<Context, "signal" | "chunk" | "onMore">;
  readonly #asks: Asks;
  readonly #runId = crypto.randomUUID();
  readonly #source: string;
  #tools: OwnTool[];
  #left: number;
  #output = "";
  #hasBegun = false;
  #more: (n: number) => void = () => undefined;

  constructor(asker: Asker, harbor: Pick<Caller, "call">, context: Pick<Context, "signal" | "chunk" | "onMore">, asks: Asks, wish: RunWish & { own: OwnTool[] }) {
    this.#asker = asker;
    this.#harbor = harbor;
    this.#context = context;
    this.#asks = asks;
    this.#source = `page:${new URL(asker.origin).host}`;
    this.#left = wish.maxToolCalls ?? CALLS;
    this.#tools = this.#left > 0 ? wish.own : [];
  }

  /** Does the task. What has begun ends with an event, what has not with an error. */
  async run({ task, provider, model }: RunWish): Promise<{ runId: string }> {
    this.#context.onMore((n) => this.#more(n));
    const messages: Fields[] = [{ role: "user", content: task }];
    try {
      for (let round = 0; ; round += 1) {
        const calls = await this.#ask({ messages, provider, model }, messages);
        if (calls.length === 0) break;
        if (round === MOST_ROUNDS) throw new CodedError("ERR_MODEL_FAILED", `the model called tools ${MOST_ROUNDS} times without an answer`);
        messages.push(...(await Promise.all(calls.map((call) => this.#call(call)))));
        // After the last call the model answers with what it has.
        if (this.#left <= 0) this.#tools = [];
      }
      this.#tell("final", { output: this.#output });
    } catch (error) {
      this.#context.signal.throwIfAborted();
      if (!this.#hasBegun) throw error;
      const { code, message } = failureOf(error);
      const retryable = code === "ERR_RATE_LIMITED" || NOBODY.some((one) => one === code);
      this.#tell("error", { error: { code, message, retryable } });
    }
    return { runId: this.#runId };
  }

  /** Asks the model; what it calls. */
  async #ask(fields: Fields, messages: Fields[]): Promise<Call[]> {
    const body = JSON.stringify({ ...fields, ...(this.#tools.length > 0 ? { tools: this.#tools } : {}) });
    if (isTooLarge(body)) throw new CodedError("ERR_MODEL_FAILED", `a conversation can have at most ${MAX_PROMPT} bytes`, { cause: "context_full" });
    const answer = await this.#harbor.call(
      "prompt",
      { ...this.#asker, body, stream: true },
      { signal: this.#context.signal, onChunk: (chunk) => this.#came(chunk), begun: (more) => void (this.#more = more) },
    );
    const { message, finishReason } = answer as { message: Fields; finishReason: unknown };
    if (finishReason === "error") throw new CodedError("ERR_MODEL_FAILED", "the provider refused to continue", { cause: "refused" });
    messages.push(message);
    return (message["toolCalls"] ?? []) as Call[];
  }

  #came(chunk: unknown): void {
    const { type, text } = isFields(chunk) ? chunk : {};
    if (type !== "text" || typeof text !== "string" || text === "") return this.#more(1);
    this.#output += text;
    this.#tell("token", { token: text });
  }

  /** One call, and what the model is told of it. */
  async #call({ id: callId, name, arguments: args }: Call): Promise<Fields> {
    this.#output = "";
    const tool = `${this.#source}/${name}`;
    this.#tell("tool_call", { callId, tool, args });
    const outcome = await this.#outcome(name, args ?? {});
    this.#tell("tool_result", { callId, tool, ...outcome });
    if ("error" in outcome) return { role: "tool", toolCallId: callId, content: outcome.error.message, isError: true };
    return { role: "tool", toolCallId: callId, content: textOf(outcome.result), ...(outcome.result["isError"] === true ? { isError: true } : {}) };
  }

  async #outcome(tool: string, args: unknown): Promise<Outcome> {
    const isKnown = this.#tools.some(({ name }) => name === tool);
    this.#left -= 1;
    if (this.#left < 0) return { error: { code: "ERR_BUDGET_EXCEEDED", message: "the run has had all its calls" } };
    if (!isKnown) return { error: { code: "ERR_TOOL_NOT_FOUND", message: `this run has no tool ${tool}` } };
    const tell = (ask: number) => this.#context.chunk({ type: "ask", ask, tool, args: JSON.stringify(args) });
    const { result, error } = await this.#asks.ask(tell, this.#context.signal);
    return error === undefined ? { result: result ?? {} } : { error };
  }

  #tell(type: string, fields: Fields): void {
    this.#hasBegun = true;
    this.#context.chunk({ type, runId: this.#runId, ...fields });
  }
}

/** A result as a text: its texts, and what else there is as JSON. */
function textOf({ content }: Fields): string {
  const parts = Array.isArray(content) ? content : [];
  return parts.map((part: unknown) => (isFields(part) && typeof part["text"] === "string" ? part["text"] : JSON.stringify(part))).join("\n");
}
