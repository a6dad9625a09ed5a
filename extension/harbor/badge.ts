// The mark on the button in the toolbar: how many questions about calls wait, else whether the page that is shown has access to tools now.
//
// Owns the list of what is granted, kept as long as the browser runs. Must never ask which page is shown while nothing is granted:
// then no page has access, and each change of tabs would wake two backgrounds for it. Questions are marked for all tabs at once.

import type { Store } from "../shared/browser/api.ts";
import type { Grant } from "../shared/protocol/generated/messages.ts";
import { type Site, hasAccess, hostOf } from "./sidebar/site.ts";

const GRANTED = "granted";
/** Windows, each with the tab that it showed last. */
const SHOWN = "shown";

/** Windows that are remembered. */
const MOST_WINDOWS = 32;

/** What this needs of its surroundings. */
export interface Surroundings {
  siteIn(windowId: number): Promise<Site | undefined>;
  store: Store;
  /** Marks it while this tab is shown; without a text as for all tabs. */
  mark(tabId: number, text: string | null, title: string): Promise<void>;
  markAll(text: string): Promise<void>;
}

export class Badge {
  readonly #around: Surroundings;
  #turn: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(around: Surroundings) {
    this.#around = around;
    // What a background before this one has marked is over.
    void this.#next(() => around.markAll(""));
  }

  /** So many questions wait for the person. */
  waiting(many: number): Promise<void> {
    return this.#next(async () => {
      if (many === this.#waiting) return;
      this.#waiting = many;
      await this.#around.markAll(many === 0 ? "" : String(many));
      const grants = await this.#granted();
      if (grants.length > 0) for (const [windowId, tabId] of await this.#windows()) await this.#mark(windowId, tabId, grants);
    });
  }

  /** These are all grants now. */
  granted(grants: Grant[]): Promise<void> {
    return this.#next(async () => {
      const pages = grants.filter(({ origin }) => !origin.startsWith("client://"));
      await this.#around.store.set(GRANTED, pages);
      for (const [windowId, tabId] of await this.#windows()) await this.#mark(windowId, tabId, pages);
    });
  }

  /** A window shows this tab, or another page in it. */
  shown(windowId: number, tabId: number): Promise<void> {
    return this.#next(async () => {
      await this.#around.store.set(SHOWN, [...new Map(await this.#windows()).set(windowId, tabId)].slice(-MOST_WINDOWS));
      const grants = await this.#granted();
      if (grants.length > 0) await this.#mark(windowId, tabId, grants);
    });
  }

  async #granted(): Promise<Grant[]> {
    return ((await this.#around.store.get(GRANTED)) as Grant[] | undefined) ?? [];
  }

  async #windows(): Promise<[number, number][]> {
    return ((await this.#around.store.get(SHOWN)) as [number, number][] | undefined) ?? [];
  }

  async #mark(windowId: number, tabId: number, grants: Grant[]): Promise<void> {
    const site = grants.length === 0 ? undefined : await this.#around.siteIn(windowId);
    const on = site !== undefined && site.tab === tabId && hasAccess(site, grants);
    await this.#around.mark(tabId, on && this.#waiting === 0 ? "on" : null, on ? `Harbor: ${hostOf(site.origin)} may use your tools` : "Harbor");
  }

  /** One after the other: an older answer must not come last. */
  #next(work: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }
}
