// Tabs whose page API answers nothing: a client has run a script of its own there, which could use what the person gave to the page's site.
//
//   evaluate ─► closed ─► another document is loaded ─► open again
//        │             └─► the same one comes back out of the browser's memory ─► closed, still
//        └─► with other tabs, or a popup later: a script lives on in one, and reaches the others ─► all closed as long as they are there
//
// What a page there has asked for and not got is aborted at once: an answer would come to the script.
//
// Owns that, beyond the life of the background. Must never open a tab by itself.

import type { Store } from "../../shared/browser/api.ts";
import { CodedError } from "../../shared/protocol/codes.ts";

const KEY = "browserClosedTabs";

interface Kept {
  /** Where a script has run in any document. */
  ever: number[];
  /** Where it has in the one that is shown. */
  now: number[];
  /** Whatever is loaded there. */
  always: number[];
}

const closed = (): CodedError => new CodedError("ERR_PERMISSION_DENIED", "an AI app has run scripts in this page: load the page anew to use Harbor there");

const joined = (...lists: number[][]): number[] => [...new Set(lists.flat())];

export class ClosedTabs {
  readonly #store: Store;
  #kept: Promise<Kept> | undefined;
  /** Of the requests that are open, by their tabs. */
  readonly #open = new Map<number, Set<AbortController>>();

  constructor(store: Store) {
    this.#store = store;
  }

  async has(tabId: number): Promise<boolean> {
    const { now, always } = await this.#all();
    return now.includes(tabId) || always.includes(tabId);
  }

  /**
   * Answers what a page in the tab has asked for, by `work`, which gets a signal; in a closed one, and where it is closed meanwhile, by the reason
   * alone. `signal`: ends it, too.
   */
  async whileOpen<T>(tabId: number, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const closing = new AbortController();
    const open = this.#open.get(tabId) ?? new Set();
    this.#open.set(tabId, open.add(closing));
    try {
      if ((await this.has(tabId)) || closing.signal.aborted) throw closed();
      const aborted = new Promise<never>((_, reject) => closing.signal.addEventListener("abort", () => reject(closing.signal.reason)));
      return await Promise.race([work(AbortSignal.any([signal, closing.signal])), aborted]);
    } finally {
      open.delete(closing);
      if (open.size === 0 && this.#open.get(tabId) === open) this.#open.delete(tabId);
    }
  }

  /** A script is about to run in a tab. `tabs`: all of its session. Settles once it holds. */
  async close(tabId: number, tabs: number[]): Promise<void> {
    const { ever, now, always } = await this.#all();
    const isAlone = tabs.every((one) => one === tabId);
    await this.#keep({ ever: joined(ever, [tabId]), now: joined(now, [tabId]), always: isAlone ? always : joined(always, tabs, [tabId]) });
  }

  /** A page has opened another tab. */
  async opened(tabId: number, openerId: number): Promise<void> {
    if (!(await this.has(openerId))) return;
    const kept = await this.#all();
    await this.#keep({ ...kept, always: joined(kept.always, [tabId, openerId]) });
  }

  /** Another document is in the tab. `isBack`: it was there before. */
  async committed(tabId: number, isBack: boolean): Promise<void> {
    const { ever, now, always } = await this.#all();
    if (!ever.includes(tabId)) return;
    await this.#keep({ ever, now: isBack ? joined(now, [tabId]) : now.filter((one) => one !== tabId), always });
  }

  /** The tab is gone. */
  async forget(tabId: number): Promise<void> {
    const { ever, now, always } = await this.#all();
    const others = (list: number[]) => list.filter((one) => one !== tabId);
    if (ever.includes(tabId) || always.includes(tabId)) await this.#keep({ ever: others(ever), now: others(now), always: others(always) });
  }

  #all(): Promise<Kept> {
    return (this.#kept ??= this.#store.get(KEY).then((kept) => (kept as Kept | undefined) ?? { ever: [], now: [], always: [] }));
  }

  async #keep(kept: Kept): Promise<void> {
    this.#kept = Promise.resolve(kept);
    for (const [tabId, open] of this.#open) {
      if (kept.now.includes(tabId) || kept.always.includes(tabId)) for (const closing of open) closing.abort(closed());
    }
    await this.#store.set(KEY, kept);
  }
}
