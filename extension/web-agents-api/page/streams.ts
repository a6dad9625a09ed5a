// A request that streams, as the page reads it: pieces in order, as many on their way as it reads.
//
//   pieces that came ─► waiting (64 at most) ─► one at a time, when the page pulls
//   credit            ◄─ half of them at a time, when the page has taken as many
//
// Owns what has come and was not read. Must never leave a piece out, join two, or come to more than one end. Models and runs go this way.

import { CapturedPromise, CapturedReadableStream, closeStream, enqueue, failStream, then } from "./builtins.ts";
import { type Asked, type Options, begin } from "./channel.ts";
import type { PageRequestType } from "../../shared/protocol/page.ts";

/** So many pieces are asked for at a time. */
const TURN = 32;

/** What comes next: a piece, or the answer with which the request has ended. */
export type Next = { piece: unknown } | { end: unknown };

interface Link {
  piece: unknown;
  next: Link | undefined;
}

/** The pieces of a request. One reader only. */
export class Pieces {
  readonly #asked: Asked;
  #first: Link | undefined;
  #last: Link | undefined;
  #end: { answer: unknown } | { error: unknown } | undefined;
  #taken = 0;
  #wake: (() => void) | undefined;

  constructor(type: PageRequestType, payload: object, options: Pick<Options, "signal">) {
    const { signal } = options;
    this.#asked = begin(type, payload, { signal, onChunk: (piece) => this.#came(piece) });
    then(this.#asked.answer, (answer) => this.#ended({ answer }), (error) => this.#ended({ error }));
  }

  /** The next piece, or the end. Rejects where the request has failed; what came before that is given first, unless it was aborted. */
  async next(): Promise<Next> {
    while (this.#first === undefined && this.#end === undefined) {
      await new CapturedPromise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const { piece, next } = this.#first ?? {};
    if (this.#first === undefined) return this.#atEnd();
    this.#first = next;
    this.#taken += 1;
    if (this.#taken === TURN) {
      this.#taken = 0;
      this.#asked.more(TURN);
    }
    return { piece };
  }

  /** Nobody reads on. */
  cancel(): void {
    this.#first = undefined;
    this.#asked.cancel();
  }

  #atEnd(): Next {
    const end = this.#end as { answer: unknown } | { error: unknown };
    if ("error" in end) throw end.error;
    return { end: end.answer };
  }

  #came(piece: unknown): void {
    const link: Link = { piece, next: undefined };
    if (this.#first === undefined) this.#first = link;
    else (this.#last as Link).next = link;
    this.#last = link;
    this.#wake?.();
  }

  #ended(end: { answer: unknown } | { error: unknown }): void {
    this.#end = end;
    this.#wake?.();
  }
}

/** A stream for a page, and how it is filled. */
export interface Filled<T> {
  stream: ReadableStream<T>;
  put(value: T): void;
  close(): void;
  fail(error: unknown): void;
}

/**
 * A stream into which is put what comes, when it comes. `pulled`: the page has read all but the last; `left`: it reads no further. After
 * its end nothing more gets in, and it has one end only.
 */
export function filled<T>(pulled: () => void, left: () => void): Filled<T> {
  let controller: ReadableStreamDefaultController<T> | undefined;
  const source = {
    __proto__: null,
    start: (given: ReadableStreamDefaultController<T>) => void (controller = given),
    pull: pulled,
    cancel() {
      controller = undefined;
      left();
    },
  };
  const strategy = { __proto__: null, highWaterMark: 1 };
  const stream = new CapturedReadableStream<T>(source as UnderlyingDefaultSource<T>, strategy as QueuingStrategy<T>);
  const ended = (): ReadableStreamDefaultController<T> | undefined => {
    const last = controller;
    controller = undefined;
    return last;
  };
  return {
    stream,
    put(value) {
      if (controller !== undefined) enqueue(controller, value);
    },
    close() {
      const last = ended();
      if (last !== undefined) closeStream(last);
    },
    fail(error) {
      const last = ended();
      if (last !== undefined) failStream(last, error);
    },
  };
}
