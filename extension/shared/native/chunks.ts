// Joins the pieces of an answer that is larger than a frame.
//
// Owns the pieces of answers that are not whole yet. Must never keep more than MAX_ANSWER, or join what has a gap.

import type { Pushes } from "../protocol/generated/messages.ts";

/** The largest answer, in bytes. */
export const MAX_ANSWER = 64 * 1024 * 1024;

/** What became of a piece. */
export type Joined =
  | { is: "more" }
  | { is: "whole"; message: unknown }
  /** The bridge breaks its own protocol. */
  | { is: "broken"; why: string };

interface Pieces {
  bytes: Uint8Array[];
  size: number;
}

export class Chunks {
  readonly #answers = new Map<string, Pieces>();
  #size = 0;

  /** Takes the next piece. */
  add({ request_id, seq, last, data }: Pushes["chunk"]): Joined {
    const pieces = this.#answers.get(request_id) ?? { bytes: [], size: 0 };
    if (seq !== pieces.bytes.length) return this.#broken(request_id, "a piece of an answer is missing");
    const bytes = decode(data);
    if (bytes === undefined) return this.#broken(request_id, "a piece of an answer is not base64");
    if (this.#size + bytes.length > MAX_ANSWER) return this.#broken(request_id, "an answer is too large");
    pieces.bytes.push(bytes);
    pieces.size += bytes.length;
    this.#size += bytes.length;
    this.#answers.set(request_id, pieces);
    if (!last) return { is: "more" };
    this.forget(request_id);
    return parse(join(pieces));
  }

  /** Drops the pieces of an answer that nobody waits for. */
  forget(requestId: string): void {
    this.#size -= this.#answers.get(requestId)?.size ?? 0;
    this.#answers.delete(requestId);
  }

  #broken(requestId: string, why: string): Joined {
    this.forget(requestId);
    return { is: "broken", why };
  }
}

function decode(data: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function join({ bytes, size }: Pieces): Uint8Array {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const piece of bytes) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

function parse(bytes: Uint8Array): Joined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return { is: "whole", message: JSON.parse(text) };
  } catch {
    return { is: "broken", why: "the pieces of an answer are not JSON" };
  }
}
