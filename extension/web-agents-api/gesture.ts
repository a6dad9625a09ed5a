// Which of the person's clicks and keys a request belongs to: each has a number, so that it opens one question at most.
//
// Pure. The browser says whether there was one a moment ago; this tells one from the next. Must never count what the page itself has made.

/** No browser counts a click as fresh for longer. */
export const FRESH_MS = 5_500;

export class Gestures {
  #count = 0;
  #at = Number.NEGATIVE_INFINITY;

  /** The person has pressed a button or a key in this document. */
  happened(now: number): void {
    this.#count += 1;
    this.#at = now;
  }

  /** The number of the last one; 0: there is none that is fresh. `active`: what the browser says. */
  last(active: boolean, now: number): number {
    if (!active) return 0;
    // In a frame inside: this document hears nothing of it but by the browser's word.
    if (now - this.#at > FRESH_MS) this.happened(now);
    return this.#count;
  }
}
