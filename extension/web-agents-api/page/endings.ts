// What ends a piece of work of a session: the page's signal, or the session's end.
//
// Owns the listeners that it leaves on signals, and takes them away again. The reason is always the very one that was given.

import { CapturedAbortController, abort, isAborted, listenTo, reasonOf, signalOf, stopListeningTo } from "./builtins.ts";
import { wrong } from "./errors.ts";

const ONCE = { __proto__: null, once: true } as AddEventListenerOptions;

/** A signal that aborts with either of two others, and can be aborted by itself. */
export class Ending {
  readonly #controller = new CapturedAbortController();
  readonly #sources: readonly (AbortSignal | undefined)[];
  readonly #heard: (event: Event) => void;

  constructor(one: AbortSignal | undefined, other?: AbortSignal | undefined) {
    this.#sources = [one, other];
    this.#heard = () => this.#look();
    for (let at = 0; at < 2; at += 1) {
      const source = this.#sources[at];
      if (source !== undefined) listenTo(source, "abort", this.#heard, ONCE);
    }
    this.#look();
  }

  get signal(): AbortSignal {
    return signalOf(this.#controller);
  }

  get isEnded(): boolean {
    return isAborted(this.signal);
  }

  /** Throws the reason, if it has ended. */
  check(): void {
    if (this.isEnded) throw reasonOf(this.signal);
  }

  end(reason: unknown): void {
    this.done();
    abort(this.#controller, reason);
  }

  /** The work is done: nothing ends it any more. */
  done(): void {
    for (let at = 0; at < 2; at += 1) {
      const source = this.#sources[at];
      if (source !== undefined) stopListeningTo(source, "abort", this.#heard);
    }
  }

  /** Calls at the end with the reason; at once where it has ended. */
  onEnd(listener: (reason: unknown) => void): void {
    if (this.isEnded) listener(reasonOf(this.signal));
    else listenTo(this.signal, "abort", () => listener(reasonOf(this.signal)), ONCE);
  }

  #look(): void {
    for (let at = 0; at < 2; at += 1) {
      const source = this.#sources[at];
      if (source !== undefined && isAborted(source)) {
        this.end(reasonOf(source));
        return;
      }
    }
  }
}

/** The signal of a page's options; a TypeError where it is none. */
export function signalIn(options: { signal?: unknown } | null | undefined): AbortSignal | undefined {
  const signal = options?.signal;
  if (signal === undefined) return undefined;
  try {
    isAborted(signal as AbortSignal);
  } catch {
    throw wrong("signal must be an AbortSignal");
  }
  return signal as AbortSignal;
}
