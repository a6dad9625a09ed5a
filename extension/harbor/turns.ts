// How many prompts of an origin are under way at the bridge: as many as it takes, and the others wait for their turn.
//
// Pure. Owns the order of those that wait. Must never keep a turn that is over.

/** What the bridge takes of an origin at the same time (ORIGINS_PACE in bridge/policy/src/budget.rs). */
export const AT_ONCE = 4;

export class Turns {
  readonly #most: number;
  readonly #under = new Map<string, number>();
  readonly #waiting = new Map<string, (() => void)[]>();

  constructor(most = AT_ONCE) {
    this.#most = most;
  }

  /** Does `work` when it is the origin's turn; rejects with the signal's reason if that comes first. */
  async take<T>(origin: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    if ((this.#under.get(origin) ?? 0) >= this.#most) await this.#wait(origin, signal);
    else this.#count(origin, 1);
    try {
      signal.throwIfAborted();
      return await work();
    } finally {
      this.#free(origin);
    }
  }

  #count(origin: string, more: number): void {
    const now = (this.#under.get(origin) ?? 0) + more;
    if (now === 0) this.#under.delete(origin);
    else this.#under.set(origin, now);
  }

  #wait(origin: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(origin) ?? [];
      this.#waiting.set(origin, waiting);
      const go = () => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      const leave = () => {
        waiting.splice(waiting.indexOf(go), 1);
        reject(signal.reason);
      };
      waiting.push(go);
      signal.addEventListener("abort", leave, { once: true });
    });
  }

  /** The turn goes to who has waited longest. */
  #free(origin: string): void {
    const waiting = this.#waiting.get(origin);
    const next = waiting?.shift();
    if (waiting?.length === 0) this.#waiting.delete(origin);
    if (next === undefined) this.#count(origin, -1);
    else next();
  }
}
