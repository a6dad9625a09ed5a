// Where the tabs of sessions are, and what the bridge says of it: one record for each tab, which everything uses that leaves the
// extension about that tab.
//
//   sets out ─► asked ──── the same address: the answer holds ────┐
//   commits ──► the record: address and verdict ◄─────────────────┘ ─► allowed: it is read, acted in, told of
//                                                                   ─► denied: the tab leaves it
//
// Owns which document of a tab has been judged. Must never take the verdict on one place for another place.

import { type TabView, closeTabs, goTo, tabOf } from "../../shared/browser/tabs.ts";

export interface Verdict {
  allowed: boolean;
  /** Why the tab has to leave it; nothing where the tab is no session's, and the person's to be where they like. */
  reason?: string;
}

/** What is asked and done outside of here. */
export interface Outside {
  /** The bridge's verdict. `noted`: the tab goes there, which the session's events say. */
  judge(session: string, tabId: number, url: string, noted: boolean): Promise<Verdict>;
  /** From now on the tab counts as going there. */
  going(tabId: number, url: string): void;
  /** Waits until the tab goes nowhere, at most so many milliseconds. */
  settled(tabId: number, most: number): Promise<boolean>;
  /** Whether the tab is that session's. */
  has(session: string, tabId: number): boolean;
}

interface Judged {
  url: string;
  verdict: Promise<Verdict>;
}

interface Place {
  /** What is on its way. */
  ahead?: Judged;
  /** What the tab shows. */
  record?: Judged;
  /** Why it had to leave a place, until that was said. */
  refused?: string;
  /** Settles when all that was begun for the tab has been judged, and left where it has to be. */
  work: Promise<unknown>;
}

export const BLANK = "about:blank";

/** What stands for the address of a page of which nothing may be told. */
const HIDDEN = "[address not allowed]";

/** How long a tab may take to become empty, in milliseconds, and how often that is tried. */
const LEAVE_MS = 2_000;
const LEAVE_TIMES = 3;

/** What a verdict is about. A host is judged, so all that an origin has is one place; what has no origin is one by itself. */
export function placeOf(url: string): string {
  try {
    const { origin, protocol, username, password, href } = new URL(url);
    return /^https?:$/.test(protocol) && username === "" && password === "" ? origin : href;
  } catch {
    return url;
  }
}

/** A document that came from nowhere: it has nothing but what its maker put there, whose own place is judged. */
const isEmpty = (url: string): boolean => url === "" || url === BLANK || url === "about:srcdoc";

export class Places {
  readonly #outside: Outside;
  readonly #places = new Map<number, Place>();

  constructor(outside: Outside) {
    this.#outside = outside;
  }

  /** A tab sets out for an address: what it may not show it does not get to. */
  setsOut(session: string, tabId: number, url: string): void {
    const place = this.#of(tabId);
    place.ahead = { url, verdict: this.#verdict(session, tabId, url, true) };
    this.#leaveWhereDenied(session, tabId, place, place.ahead);
  }

  /** A tab shows another document. */
  commits(session: string, tabId: number, url: string): Promise<Verdict> {
    const place = this.#of(tabId);
    const { ahead } = place;
    // A redirect may have led elsewhere than was asked for.
    place.record = ahead?.url === url ? ahead : { url, verdict: this.#verdict(session, tabId, url, true) };
    delete place.ahead;
    this.#leaveWhereDenied(session, tabId, place, place.record);
    return place.record.verdict;
  }

  /** Whether an address may be told or used: by the record of what the tab shows, else by the bridge. */
  async may(session: string, tabId: number, url: string): Promise<boolean> {
    const record = this.#places.get(tabId)?.record;
    return (await (record !== undefined && this.#isShown(tabId, url) ? record.verdict : this.#verdict(session, tabId, url, false))).allowed;
  }

  /** The place that a tab's document has where it was allowed. */
  async allowed(tabId: number): Promise<string | undefined> {
    const record = this.#places.get(tabId)?.record;
    return record !== undefined && (await record.verdict).allowed ? placeOf(record.url) : undefined;
  }

  /** Waits until all that the tab was at has been judged, and left where it has to be. */
  async settled(tabId: number): Promise<void> {
    for (;;) {
      const work = this.#places.get(tabId)?.work;
      await work;
      if (this.#places.get(tabId)?.work === work) return;
    }
  }

  /** The tab as it is once what it shows has been judged and may be told of; nothing where it is closed. */
  async here(session: string, tabId: number): Promise<TabView | undefined> {
    for (;;) {
      await this.settled(tabId);
      const tab = await tabOf(tabId);
      if (tab === undefined) return undefined;
      if (!this.#outside.has(session, tabId)) return this.asTold(session, tab);
      if (await this.may(session, tabId, tab.url)) return told(tab);
      if (this.#isShown(tabId, tab.url)) return hidden(tab);
      // Its event is still to come, or came while nobody listened.
      await this.commits(session, tabId, tab.url);
    }
  }

  /** The same of a tab that nobody waits for: nothing is told of what may not be. */
  async asTold(session: string, tab: TabView): Promise<TabView> {
    return (await this.may(session, tab.id, tab.url)) ? told(tab) : hidden(tab);
  }

  /** Why the tab had to leave a place, if it had to since this was asked last. */
  takeRefusal(tabId: number): string | undefined {
    const place = this.#places.get(tabId);
    const refused = place?.refused;
    delete place?.refused;
    return refused;
  }

  forget(tabId: number): void {
    this.#places.delete(tabId);
  }

  #isShown(tabId: number, url: string): boolean {
    const record = this.#places.get(tabId)?.record;
    return record !== undefined && placeOf(record.url) === placeOf(url);
  }

  #of(tabId: number): Place {
    const place = this.#places.get(tabId) ?? { work: Promise.resolve() };
    this.#places.set(tabId, place);
    return place;
  }

  #verdict(session: string, tabId: number, url: string, noted: boolean): Promise<Verdict> {
    return isEmpty(url) ? Promise.resolve({ allowed: true }) : this.#outside.judge(session, tabId, url, noted);
  }

  #leaveWhereDenied(session: string, tabId: number, place: Place, { verdict }: Judged): void {
    const left = verdict.then(({ allowed, reason }) => (allowed || reason === undefined ? undefined : this.#leave(session, tabId, place, reason)));
    place.work = Promise.all([place.work, left]);
  }

  /** Takes a tab to an empty page; what cannot be left is closed. */
  async #leave(session: string, tabId: number, place: Place, reason: string): Promise<void> {
    place.refused = reason;
    for (let time = 0; time < LEAVE_TIMES; time += 1) {
      // It is a session's no more, or has been taken elsewhere meanwhile.
      if (this.#places.get(tabId) !== place) return;
      this.#outside.going(tabId, BLANK);
      await goTo(tabId, BLANK).catch(() => undefined);
      await this.#outside.settled(tabId, LEAVE_MS);
      const tab = await tabOf(tabId);
      if (tab === undefined || (await this.may(session, tabId, tab.url))) return;
    }
    await closeTabs([tabId]);
  }
}

const hidden = (tab: TabView): TabView => ({ ...tab, url: HIDDEN, title: "" });

/** While a page is on its way, a browser may give its address for a title; Firefox does so without saying where the tab goes. */
function told(tab: TabView): TabView {
  const isKnown = tab.url !== "about:blank" && (tab.pending === undefined || placeOf(tab.pending) === placeOf(tab.url));
  return isKnown ? tab : { ...tab, title: "" };
}
