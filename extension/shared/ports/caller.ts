// The asking end of a port: requests with ids, answers, progress, cancelling.
//
// Owns the requests that are open on one port. Must never send a request twice: what was open when the port closed fails. A port
// whose other end is silent for too long counts as closed: a browser may lose what was sent to a background that just ended. The
// other end speaks first, so who can try again need not wait long for that.

import type { Port } from "../browser/api.ts";
import { CodedError, errorOf } from "../protocol/codes.ts";
import { type Fields, SILENT_MS, parseHeard } from "./wire.ts";

export interface CallOptions {
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: unknown) => void) | undefined;
  /** Called with each piece of a stream, in order and without a gap. */
  onChunk?: ((chunk: unknown) => void) | undefined;
  /** Called once the request is on its way, with how credit for further pieces is given. */
  begun?: ((more: (n: number) => void) => void) | undefined;
}

interface Open {
  resolve(result: unknown): void;
  reject(error: unknown): void;
  onProgress: CallOptions["onProgress"];
  onChunk: CallOptions["onChunk"];
  /** The number of the piece that comes next. */
  next: number;
  done(): void;
}

/** A timer, for tests: calls once after so long; the result takes that back. */
export type After = (ms: number, call: () => void) => () => void;

const realAfter: After = (ms, call) => {
  const timer = setTimeout(call, ms);
  return () => clearTimeout(timer);
};

export class Caller {
  readonly #connect: () => Port;
  readonly #lost: (reason: string) => CodedError;
  readonly #onPush: (type: string, payload: Fields) => void;
  readonly #after: After;
  readonly #firstMs: number;
  readonly #open = new Map<number, Open>();
  #port: Port | undefined;
  /** Whether the other end of this port has said anything. */
  #lives = false;
  #last = 0;
  #stopWaiting: () => void = () => undefined;

  /**
   * @param connect opens the port; called when something is to be asked and there is none
   * @param lost what an open request fails with when the port closes; called at each such end
   * @param firstMs how long the other end may take to say its first word
   */
  constructor(
    connect: () => Port,
    lost: (reason: string) => CodedError,
    onPush: (type: string, payload: Fields) => void = () => undefined,
    after: After = realAfter,
    firstMs: number = SILENT_MS,
  ) {
    this.#connect = connect;
    this.#lost = lost;
    this.#onPush = onPush;
    this.#after = after;
    this.#firstMs = firstMs;
  }

  /** Asks; rejects with a `CodedError`, or with the signal's reason. */
  call(type: string, payload: Fields, { signal, onProgress, onChunk, begun }: CallOptions = {}): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const id = ++this.#last;
      const abort = () => this.#abort(id, signal?.reason);
      const done = () => signal?.removeEventListener("abort", abort);
      try {
        this.#port ??= this.#opened();
      } catch (error) {
        reject(this.#lost(error instanceof Error ? error.message : ""));
        return;
      }
      try {
        this.#port.post({ id, type, payload });
      } catch {
        reject(new CodedError("ERR_INVALID_REQUEST", "the browser does not pass on this request: it may be too large"));
        return;
      }
      this.#open.set(id, { resolve, reject, onProgress, onChunk, next: 0, done });
      if (this.#open.size === 1) this.#wait();
      signal?.addEventListener("abort", abort);
      begun?.((n) => {
        if (this.#open.has(id)) this.#port?.post({ more: id, n });
      });
    });
  }

  /** Opens the port, where there is none: for what is pushed. */
  open(): void {
    try {
      this.#port ??= this.#opened();
    } catch (error) {
      this.#lost(error instanceof Error ? error.message : "");
    }
  }

  /** Closes the port; what is open fails. */
  close(): void {
    this.#port?.disconnect();
    this.#closed("");
  }

  #opened(): Port {
    const port = this.#connect();
    this.#lives = false;
    port.onMessage((message) => this.#heard(message));
    port.onDisconnect((reason) => {
      if (this.#port === port) this.#closed(reason);
    });
    return port;
  }

  #heard(message: unknown): void {
    const heard = parseHeard(message);
    this.#lives = true;
    this.#wait();
    if (heard.kind === "push") {
      this.#onPush(heard.type, heard.payload);
      return;
    }
    const open = heard.kind === "nothing" ? undefined : this.#open.get(heard.id);
    if (heard.kind === "nothing" || open === undefined) return;
    if (heard.kind === "progress") {
      open.onProgress?.(heard.progress);
      return;
    }
    if (heard.kind === "chunk") {
      this.#heardChunk(heard.id, open, heard.seq, heard.chunk);
      return;
    }
    this.#end(heard.id);
    if (heard.kind === "result") open.resolve(heard.result);
    else open.reject(errorOf(heard.error));
  }

  #heardChunk(id: number, open: Open, seq: unknown, chunk: unknown): void {
    if (seq === open.next) {
      open.next += 1;
      open.onChunk?.(chunk);
    } else this.#abort(id, new CodedError("ERR_PROTOCOL_ERROR", "a piece of an answer is missing"));
  }

  #abort(id: number, reason: unknown): void {
    const open = this.#end(id);
    if (open === undefined) return;
    this.#port?.post({ cancel: id });
    open.reject(reason);
  }

  #end(id: number): Open | undefined {
    const open = this.#open.get(id);
    this.#open.delete(id);
    open?.done();
    if (this.#open.size === 0) this.#stopWaiting();
    return open;
  }

  /** Waits for whatever the other end says next, where something is open. */
  #wait(): void {
    this.#stopWaiting();
    if (this.#open.size > 0) this.#stopWaiting = this.#after(this.#lives ? SILENT_MS : this.#firstMs, () => this.close());
  }

  #closed(reason: string): void {
    this.#port = undefined;
    const error = this.#lost(reason);
    for (const id of [...this.#open.keys()]) this.#end(id)?.reject(error);
  }
}
