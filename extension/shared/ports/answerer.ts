// The answering end of a port: one answer to each request, and an end to all of them when the port closes.
//
// Owns the requests that are open on one port. Must never answer twice, or know what a request means.

import type { Port } from "../browser/api.ts";
import { CodedError, failureOf } from "../protocol/codes.ts";
import { ALIVE_MS, type Fields, type RequestFrame, parseAsked } from "./wire.ts";

/** What a handler may do besides answering. */
export interface Context {
  /** Aborted when the caller cancels or is gone. */
  signal: AbortSignal;
  progress(progress: unknown): void;
  /** Sends the next piece of a stream. Whoever makes them heeds the credit: 64 at first, then what `onMore` hears. */
  chunk(chunk: unknown): void;
  /** Calls with credit as it is given, and at once with what was given before. */
  onMore(listener: (n: number) => void): void;
}

export type Handler = (type: string, payload: Fields, context: Context) => Promise<unknown>;

/** What else ends requests than their answers. */
export interface Bounds {
  /** How many requests of one port may be open. */
  open: number;
  /** A bound that ports have in common. */
  shared?: Room;
}

/** Room for so many requests. */
export class Room {
  readonly #most: number;
  #taken = 0;

  constructor(most: number) {
    this.#most = most;
  }

  take(): boolean {
    if (this.#taken >= this.#most) return false;
    this.#taken += 1;
    return true;
  }

  give(): void {
    this.#taken -= 1;
  }
}

/** Timers, for tests. */
export interface Beat {
  start(beat: () => void, everyMs: number): () => void;
}

const REAL_BEAT: Beat = {
  start(beat, everyMs) {
    const timer = setInterval(beat, everyMs);
    return () => clearInterval(timer);
  },
};

/** A request that is open, and the credit of its stream. */
class Open {
  readonly controller = new AbortController();
  #listener: ((n: number) => void) | undefined;
  #given = 0;
  #seq = 0;

  next(): number {
    this.#seq += 1;
    return this.#seq - 1;
  }

  more(n: number): void {
    if (this.#listener === undefined) this.#given += n;
    else this.#listener(n);
  }

  onMore(listener: (n: number) => void): void {
    this.#listener = listener;
    if (this.#given > 0) listener(this.#given);
  }
}

/** Answers the requests of a port until it closes. Returns how something is pushed to it. */
export function answer(
  port: Port,
  handler: Handler,
  bounds: Bounds,
  beat: Beat = REAL_BEAT,
): (type: string, payload: Fields) => void {
  const open = new Map<number, Open>();
  let closed = false;
  let stopBeat: (() => void) | undefined;

  /** False when the browser did not take it: the port closed under us, or the message is too large. */
  const post = (message: unknown): boolean => {
    if (closed) return true;
    try {
      port.post(message);
      return true;
    } catch {
      return false;
    }
  };

  const end = (id: number): void => {
    open.delete(id);
    bounds.shared?.give();
    if (open.size > 0) return;
    stopBeat?.();
    stopBeat = undefined;
  };

  const begin = async ({ id, type, payload }: RequestFrame): Promise<void> => {
    if (open.has(id)) return;
    if (open.size >= bounds.open || bounds.shared?.take() === false) {
      const error = new CodedError("ERR_RATE_LIMITED", "too many requests are open: wait for one of them");
      post({ id, error: failureOf(error) });
      return;
    }
    const request = new Open();
    open.set(id, request);
    stopBeat ??= beat.start(() => void post({ alive: true }), ALIVE_MS);
    const { signal } = request.controller;
    const context: Context = {
      signal,
      progress(progress) {
        if (!signal.aborted) post({ id, progress });
      },
      chunk(chunk) {
        if (!signal.aborted) post({ id, seq: request.next(), chunk });
      },
      onMore: (listener) => request.onMore(listener),
    };
    try {
      const result = await handler(type, payload, context);
      if (!signal.aborted && !post({ id, result })) throw new CodedError("ERR_INTERNAL", "the browser does not pass on this answer");
    } catch (error) {
      if (!(error instanceof CodedError) && !signal.aborted) console.error(`${type} failed`, error);
      if (!signal.aborted) post({ id, error: failureOf(error) });
    } finally {
      if (open.get(id) === request) end(id);
    }
  };

  port.onMessage((message) => {
    const asked = parseAsked(message);
    if (asked.kind === "request") void begin(asked.request);
    if (asked.kind === "cancel") open.get(asked.id)?.controller.abort();
    if (asked.kind === "more") open.get(asked.id)?.more(asked.n);
  });
  port.onDisconnect(() => {
    closed = true;
    for (const { controller } of open.values()) controller.abort();
    for (const id of [...open.keys()]) end(id);
  });
  post({ alive: true });
  return (type, payload) => void post({ push: type, payload });
}
