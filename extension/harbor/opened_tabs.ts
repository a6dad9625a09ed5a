// Tabs that pages have had Harbor open: which site each is of, an origin in its profile of the browser.
//
// Owns that list, kept as long as the browser runs. Must never give one site the tab of another, or a tab of the person's to any.

import type { Store } from "../shared/browser/api.ts";

const KEY = "pageTabs";

/** How many a site may have open. */
export const MOST_TABS = 8;

type Kept = [tab: number, site: string][];

export class OpenedTabs {
  readonly #store: Store;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Opens one for a site; nothing where it has as many as it may have. One after the other: a page may ask for many at once. */
  open(site: string, make: () => Promise<number>): Promise<number | undefined> {
    return this.#inTurn(async () => {
      const kept = await this.#read();
      if (kept.filter(([, one]) => one === site).length >= MOST_TABS) return undefined;
      const tab = await make();
      await this.#store.set(KEY, [...kept, [tab, site]]);
      return tab;
    });
  }

  /** Those of a site, in the order in which they were opened. */
  async of(site: string): Promise<number[]> {
    return (await this.#inTurn(() => this.#read())).flatMap(([tab, one]) => (one === site ? [tab] : []));
  }

  /** The tab is gone. */
  async close(tab: number): Promise<void> {
    await this.#inTurn(async () => {
      const kept = await this.#read();
      if (kept.some(([one]) => one === tab)) await this.#store.set(KEY, kept.filter(([one]) => one !== tab));
    });
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }

  async #read(): Promise<Kept> {
    const kept = await this.#store.get(KEY);
    return Array.isArray(kept) ? (kept as Kept) : [];
  }
}
