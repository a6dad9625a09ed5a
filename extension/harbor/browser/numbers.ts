// The numbers of documents: by its number a ref says which document it is of.
//
// Owns that none is given twice, by whichever background. Must never give one before it is kept that it may have been given.

import type { Store } from "../../shared/browser/api.ts";

/** The key in storage; each background takes so many at once. */
const KEY = "browserDocuments";
const BLOCK = 1_000;

export class Numbers {
  readonly #store: Store;
  #begun: Promise<void> | undefined;
  #last = 0;

  /** `store`: outlives the background. */
  constructor(store: Store) {
    this.#store = store;
  }

  async next(): Promise<number> {
    await (this.#begun ??= this.#begin());
    this.#last += 1;
    const number = this.#last;
    if (number % BLOCK === 0) void this.#store.set(KEY, number + BLOCK);
    return number;
  }

  /** It was not taken. It is free again where no later one was given. */
  giveBack(number: number): void {
    if (this.#last === number) this.#last -= 1;
  }

  /** Documents outlive the background that gave them their numbers: the next one begins behind all that it may have given. */
  async #begin(): Promise<void> {
    const given = await this.#store.get(KEY);
    this.#last = typeof given === "number" ? given : 0;
    await this.#store.set(KEY, this.#last + BLOCK);
  }
}
