// Tabs whose page API answers nothing: a client has run a script of its own there, which could use what the person gave to the page's site.
//
//   evaluate ─► closed ─► another document is loaded ─► open again
//        │             └─► the same one comes back out of the browser's memory ─► closed, still
//        └─► with other tabs, or a popup later: a script lives on in one, and reaches the others ─► all closed as long as they are there
//
// Whose tabs these are does not matter: a page reaches the one that opened it, and those that it opened.
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
  /** Tabs, each with the one whose page has opened it. */
  kin: [number, number][];
}

/** So many of these are remembered, the newest. */
const MOST_KIN = 1_000;

const closed = (): CodedError => new CodedError("ERR_PERMISSION_DENIED", "an AI app has run scripts in this page: load the page anew to use Harbor there");

const joined = (...lists: number[][]): number[] => [...new Set(lists.flat())];

/** The tabs, and all that their pages may reach. */
function familyOf(tabs: number[], kin: [number, number][]): number[] {
  const found = new Set(tabs);
  for (let before = 0; before !== found.size; ) {
    before = found.size;
    for (const pair of kin) if (pair.some((tab) => found.has(tab))) for (const tab of pair) found.add(tab);
  }
  return [...found];
}

/** Those that the tab connected may still reach each other. */
function without(kin: [number, number][], tabId: number): [number, number][] {
  const ends = kin.filter((pair) => pair.includes(tabId)).flat().filter((tab) => tab !== tabId);
  return [...kin.filter((pair) => !pair.includes(tabId)), ...ends.slice(1).map((tab, at): [number, number] => [tab, ends[at] as number])];
}

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
    const { ever, now, always, kin } = await this.#all();
    const reached = familyOf(joined(tabs, [tabId]), kin);
    const isAlone = reached.every((one) => one === tabId);
    await this.#keep({ ever: joined(ever, [tabId]), now: joined(now, [tabId]), always: isAlone ? always : joined(always, reached), kin });
  }

  /** A page has opened another tab. */
  async opened(tabId: number, openerId: number): Promise<void> {
    const isClosed = await this.has(openerId);
    const kept = await this.#all();
    const kin = [...kept.kin, [tabId, openerId] as [number, number]].slice(-MOST_KIN);
    await this.#keep({ ...kept, kin, always: isClosed ? joined(kept.always, [tabId, openerId]) : kept.always });
  }

  /** Another document is in the tab. `isBack`: it was there before. */
  async committed(tabId: number, isBack: boolean): Promise<void> {
    const { ever, now, always, kin } = await this.#all();
    if (!ever.includes(tabId)) return;
    await this.#keep({ ever, now: isBack ? joined(now, [tabId]) : now.filter((one) => one !== tabId), always, kin });
  }

  /** The tab is gone. */
  async forget(tabId: number): Promise<void> {
    const { ever, now, always, kin } = await this.#all();
    const others = (list: number[]) => list.filter((one) => one !== tabId);
    const isKin = kin.some((pair) => pair.includes(tabId));
    if (ever.includes(tabId) || always.includes(tabId) || isKin) await this.#keep({ ever: others(ever), now: others(now), always: others(always), kin: without(kin, tabId) });
  }

  #all(): Promise<Kept> {
    return (this.#kept ??= this.#store.get(KEY).then((kept) => (kept as Kept | undefined) ?? { ever: [], now: [], always: [], kin: [] }));
  }

  async #keep(kept: Kept): Promise<void> {
    this.#kept = Promise.resolve(kept);
    for (const [tabId, open] of this.#open) {
      if (kept.now.includes(tabId) || kept.always.includes(tabId)) for (const closing of open) closing.abort(closed());
    }
    await this.#store.set(KEY, kept);
  }
}
