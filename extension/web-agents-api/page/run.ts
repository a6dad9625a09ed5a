// `agent.run`: a task that the person's model does with tools, told as it happens.
//
//   next() ─► the run begins ─► (status | token | tool_call | tool_result)* (final | error) ─► done
//                └─ break, return(), the signal ─► it is cancelled, at the bridge and the provider
//
// Owns that a run has one end: its last event, or a rejection. Must never use a built-in that is not its own copy.

import { CapturedAbortController, CapturedPromise, abort, asyncIterator, defineProperty, freeze, isAborted, reasonOf, signalOf, then } from "./builtins.ts";
import { failure, invalid, shown } from "./errors.ts";
import { answerAsk, ownAmong } from "./own_tools.ts";
import { Pieces } from "./streams.ts";

/** What happens in a run; docs/page-api.md has all fields. */
export interface RunEvent {
  type: string;
  runId: string;
  seq: number;
  [name: string]: unknown;
}

type Step = IteratorResult<RunEvent, undefined>;

interface Options {
  task?: unknown;
  tools?: unknown;
  provider?: unknown;
  model?: unknown;
  useAllTools?: unknown;
  requireCitations?: unknown;
  maxToolCalls?: unknown;
  sessionId?: unknown;
  signal?: AbortSignal | undefined;
}

const done = (): Step => ({ __proto__: null, done: true, value: undefined }) as unknown as Step;
const given = (value: RunEvent): Step => ({ __proto__: null, done: false, value }) as unknown as Step;

class Run {
  #wish: Options | undefined;
  #wrong: { error: unknown } | undefined;
  #signal: AbortSignal | undefined;
  #pieces: Pieces | undefined;
  /** Ends the calls that this page runs for it. */
  readonly #calls = new CapturedAbortController();
  #last: { type: string; runId: string } | undefined;
  #seq = 0;
  #over = false;
  /** Settles the step that is waited for. */
  #leave: ((step: Step) => void) | undefined;
  #before: Promise<unknown> = new CapturedPromise<void>((resolve) => resolve());

  constructor(options: Options | undefined) {
    try {
      const { task, tools, provider, model, useAllTools, requireCitations, maxToolCalls, sessionId, signal } = options ?? {};
      this.#wish = { task, tools, provider, model, useAllTools, requireCitations, maxToolCalls, sessionId };
      this.#signal = signal;
    } catch (error) {
      this.#wrong = { error };
    }
  }

  /** What happens next. One after the other, however many are asked for. */
  next(): Promise<Step> {
    const before = this.#before;
    const step = new CapturedPromise<Step>((resolve, reject) => {
      const now = () => then(this.#step(), resolve as (value: unknown) => void, reject);
      then(before, now, now);
    });
    this.#before = step;
    return step;
  }

  /** Nobody listens any more: the run is cancelled. */
  cancel(): Promise<Step> {
    this.#over = true;
    this.#pieces?.cancel();
    abort(this.#calls);
    this.#leave?.(done());
    return new CapturedPromise((resolve) => resolve(done()));
  }

  async #step(): Promise<Step> {
    if (this.#over) return done();
    const arrived = new CapturedPromise<Step>((resolve, reject) => {
      this.#leave = resolve;
      then(this.#read(), resolve as (value: unknown) => void, reject);
    });
    return await arrived;
  }

  /** Begins it, with the person's tools or the page's own. */
  async #begin(): Promise<Pieces> {
    if (this.#wrong !== undefined) throw this.#wrong.error;
    const wish = this.#wish as Options;
    const own = await ownAmong(wish.tools);
    if (this.#over) throw failure("ERR_CANCELLED", "the run was left");
    return new Pieces("run", own === undefined ? wish : { ...wish, tools: undefined, own }, { signal: this.#signal });
  }

  async #read(): Promise<Step> {
    try {
      this.#pieces ??= await this.#begin();
      const next = await this.#pieces.next();
      this.#refuseAborted();
      if (this.#over) return done();
      if (!("piece" in next)) return this.#ended();
      const event = next.piece as RunEvent;
      if (event.type === "ask") {
        answerAsk(event, signalOf(this.#calls));
        return await this.#read();
      }
      defineProperty(event, "seq", shown(this.#seq));
      this.#seq += 1;
      this.#last = event;
      if (event.type === "final" || event.type === "error") this.#over = true;
      return given(event);
    } catch (error) {
      const over = this.#over;
      this.#over = true;
      abort(this.#calls, error);
      this.#refuseAborted();
      // What has begun ends with an event, what has not with a rejection.
      if (this.#last === undefined) throw error;
      return over ? done() : given(this.#broken(error));
    }
  }

  #ended(): Step {
    this.#over = true;
    return done();
  }

  #refuseAborted(): void {
    if (!this.#isAborted()) return;
    this.#over = true;
    this.#pieces?.cancel();
    throw reasonOf(this.#signal as AbortSignal);
  }

  #isAborted(): boolean {
    try {
      return this.#signal !== undefined && isAborted(this.#signal);
    } catch {
      // It is no signal: that is said where the run begins.
      return false;
    }
  }

  /** The last event of a run whose bridge, or extension, has gone. */
  #broken(error: unknown): RunEvent {
    const { code, message } = error as { code?: unknown; message?: unknown };
    const seq = this.#seq;
    const reason = { code: code === undefined ? "ERR_INTERNAL" : code, message: `${message}`, retryable: true };
    return { type: "error", runId: (this.#last as { runId: string }).runId, seq, error: reason };
  }
}

/** Does a task. Begins when the first event is asked for. */
export function run(options: Options | undefined): AsyncIterableIterator<RunEvent> {
  const made = new Run(options);
  const events = {
    next: freeze(() => made.next()),
    return: freeze(() => made.cancel()),
    throw: freeze((error: unknown) => {
      void made.cancel();
      return new CapturedPromise<Step>((_, reject) => reject(error));
    }),
    [asyncIterator]: freeze(() => events),
  };
  return freeze(events) as unknown as AsyncIterableIterator<RunEvent>;
}

/** For pages that give something else than options. */
export function runOf(options: unknown): AsyncIterableIterator<RunEvent> {
  if (typeof options === "object" && options !== null) return run(options);
  return run({
    get task(): unknown {
      throw invalid("agent.run takes an object with a `task`");
    },
  });
}
