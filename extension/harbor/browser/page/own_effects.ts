// What an action began in a page: short timers, drawing, requests, windows. It runs in the page's own world, as `own_world.ts` does.
//
//   begin ─► set meanwhile, or by what was set meanwhile: counted ─► run or answered: no longer
//
// Owns the counts. Must never hold anything back: timers run when they are due, at the latest when the browser says so.

import { EFFECTS } from "./commands.ts";

/** A longer timer is none of the action's, in milliseconds; and so many set one after the other are. */
const SOON_MS = 50;
const DEEPEST = 5;

/** Puts a function in the place of another one, until everything is put back. */
export type Instead = <N extends string, T extends { [name in N]: unknown }>(owner: T, name: N, made: T[N]) => void;

interface Timer {
  due: number;
  run(): void;
}

export class Effects {
  /** How deep in the effects of an action the page is now; 0: in none. */
  #depth = 0;
  #requests = 0;
  #opened = false;
  readonly #timers = new Map<number, Timer>();
  readonly #channel = new MessageChannel();
  readonly #later: (() => void)[] = [];

  /** Listens, and notes what the page begins; gives how that is undone. */
  begin(instead: Instead): () => void {
    this.#channel.port1.onmessage = () => this.#later.shift()?.();
    this.#watchTimers(instead);
    this.#watchRequests(instead);
    const answers: { [N in keyof typeof EFFECTS]: () => boolean } = {
      begin: () => this.#begun(),
      end: () => this.#after(() => (this.#depth = 0)),
      timers: () => this.#isTiming(),
      requests: () => this.#requests > 0,
      opened: () => this.#opened,
    };
    const stops = Object.entries(answers).map(([what, answer]) => {
      const listener = (event: Event) => {
        if (answer()) event.preventDefault();
      };
      document.addEventListener(EFFECTS[what as keyof typeof EFFECTS], listener);
      return () => document.removeEventListener(EFFECTS[what as keyof typeof EFFECTS], listener);
    });
    return () => {
      for (const stop of stops) stop();
    };
  }

  /** A window was opened. */
  opened(): void {
    if (this.#depth > 0) this.#opened = true;
  }

  #begun(): boolean {
    this.#depth = 1;
    this.#opened = false;
    this.#requests = 0;
    this.#timers.clear();
    return false;
  }

  /** After the page's microtasks. */
  #after(then: () => void): false {
    this.#later.push(then);
    this.#channel.port2.postMessage(undefined);
    return false;
  }

  /** Runs something of the page's as an effect that is one deeper. */
  #within<T>(depth: number, run: () => T): T {
    const before = this.#depth;
    this.#depth = depth;
    try {
      return run();
    } finally {
      this.#after(() => {
        if (this.#depth === depth) this.#depth = before;
      });
    }
  }

  #watchTimers(instead: Instead): void {
    const { setTimeout, clearTimeout } = window;
    const set = setTimeout as unknown as (handler: TimerHandler, ms?: number, ...args: unknown[]) => number;
    instead(window, "setTimeout", ((handler: TimerHandler, ms?: number, ...args: unknown[]) => {
      const depth = this.#depth;
      if (depth === 0 || depth > DEEPEST || typeof handler !== "function" || Number(ms ?? 0) > SOON_MS) return set.call(window, handler, ms, ...args);
      const run = () => {
        if (!this.#timers.delete(id)) return;
        clearTimeout.call(window, id);
        this.#within(depth + 1, () => handler.apply(window, args) as unknown);
      };
      // Where another action has begun meanwhile it is still run.
      const id = set.call(window, () => (this.#timers.has(id) ? run() : handler.apply(window, args)), ms);
      this.#timers.set(id, { due: performance.now() + Number(ms ?? 0), run });
      return id;
    }) as unknown as typeof window.setTimeout);
    instead(window, "clearTimeout", ((id?: number) => {
      if (id !== undefined) this.#timers.delete(id);
      clearTimeout.call(window, id);
    }) as typeof window.clearTimeout);
  }

  /** In a tab that is not shown a browser runs timers once a second: those that are due run now. */
  #isTiming(): boolean {
    const now = performance.now();
    if (document.visibilityState !== "visible") for (const { due, run } of [...this.#timers.values()]) if (due <= now) run();
    return this.#timers.size > 0;
  }

  #watchRequests(instead: Instead): void {
    const { fetch } = window;
    instead(window, "fetch", (...how: Parameters<typeof fetch>) => {
      const answer = fetch.apply(window, how);
      const done = this.#asking();
      answer.then(done, done);
      return answer;
    });
    const { send } = XMLHttpRequest.prototype;
    const asking = () => this.#asking();
    instead(XMLHttpRequest.prototype, "send", function (this: XMLHttpRequest, ...how: Parameters<typeof send>) {
      this.addEventListener("loadend", asking(), { once: true });
      return send.apply(this, how);
    });
  }

  /** A request begins; called when it has been answered: the page reads the answer next. */
  #asking(): () => void {
    const depth = this.#depth;
    if (depth === 0 || depth > DEEPEST) return () => undefined;
    this.#requests += 1;
    const read = (turns: number): unknown => this.#after(() => (turns === 0 ? (this.#requests = Math.max(0, this.#requests - 1)) : read(turns - 1)));
    return () => void read(5);
  }
}
