// What happens in the tabs of sessions: navigations, requests, tabs that pages open.
//
// Owns what is kept of it, within bounds, until somebody asks. Must never keep anything of a tab that is no session's.

import type { Navigation, RequestView, TabListener } from "../../shared/browser/tabs.ts";
import { hostOf } from "./early.ts";
import { type Trip, endOf, isAborted, isWithoutPage } from "./trip.ts";

/** How much is kept of a tab. */
const MOST_REQUESTS = 500;
const MOST_EVENTS = 200;
const MOST_HOSTS = 20;

/** How soon a browser begins a navigation anew, in milliseconds. */
const AGAIN_MS = 300;

interface Watched {
  session: string;
  /** What happened since the last answer. */
  events: string[];
  requests: RequestView[];
  /** A navigation of the tab's own document: asked for, or under way. */
  going: "no" | "asked" | "begun";
  /** Where it was asked to go. */
  asked: string;
  /** How often it has set out. */
  begun: number;
  /** How many documents its frames have shown. */
  commits: number;
  waiting: Set<() => void>;
  /** When its page opened another tab, or began a download, last. */
  openedAt: number;
  /** Called when it sets out, is answered, or opens another tab. */
  beginning: Set<() => void>;
  /** Called when the document of a frame is replaced. */
  leaving: Set<{ frameId: number; go(): void }>;
  status: number | undefined;
  /** What has become of the navigation that began last. */
  trip: Trip;
  /** Where its documents are, and where they go. */
  hosts: Set<string>;
}

/** What others do at what happens. */
export interface Reactions {
  /** A session's tab sets out for this. */
  setsOut(session: string, tabId: number, url: string): void;
  /** A frame of a session's tab shows another document; `isFirst`: the empty one that a new tab begins with, while it goes elsewhere. */
  committed(session: string, tabId: number, frameId: number, url: string, isFirst: boolean): void;
  /** A page has opened another tab, in whosever tab. */
  kin(tabId: number, openerId: number): void;
  opened(session: string, tabId: number, openerId: number, url: string): void;
  closed(session: string, tabId: number): void;
  replaced(session: string, tabId: number, before: number): void;
  left(session: string, tabId: number, groupId: number): void;
  /** A frame of a tab that is no session's shows another document. */
  elsewhere(tabId: number, frameId: number, url: string): void;
  /** Sessions' documents are, or go, to these hosts alone. Settles once what has to be there for that is. */
  hosts(hosts: string[]): Promise<void>;
  /** A tab that is no session's is in a group now. */
  joined(tabId: number, groupId: number): void;
}

export class Watch implements TabListener {
  readonly #tabs = new Map<number, Watched>();
  /** The tabs that each window shows, and showed before. */
  readonly #shown = new Map<number, { now: number; before?: number }>();
  readonly #react: Reactions;

  constructor(react: Reactions) {
    this.#react = react;
  }

  add(tabId: number, session: string): void {
    if (this.#tabs.get(tabId)?.session === session) return;
    this.#tabs.set(tabId, { session, events: [], requests: [], going: "no", asked: "", begun: 0, commits: 0, waiting: new Set(), openedAt: 0, beginning: new Set(), leaving: new Set(), status: undefined, trip: { hasCome: true }, hosts: new Set() });
  }

  drop(tabId: number): void {
    const watched = this.#tabs.get(tabId);
    this.#tabs.delete(tabId);
    void this.#hosts();
    for (const go of [...(watched?.waiting ?? []), ...(watched?.beginning ?? [])]) go();
    for (const { go } of [...(watched?.leaving ?? [])]) go();
  }

  sessionOf(tabId: number): string | undefined {
    return this.#tabs.get(tabId)?.session;
  }

  tabsOf(session: string): number[] {
    return [...this.#tabs].flatMap(([tabId, watched]) => (watched.session === session ? [tabId] : []));
  }

  note(tabId: number, event: string): void {
    const events = this.#tabs.get(tabId)?.events;
    events?.push(event.length > 500 ? `${event.slice(0, 500)}…` : event);
    if (events !== undefined && events.length > MOST_EVENTS) events.shift();
  }

  /** Something began in the tab that is no document. */
  began(tabId: number, event: string): void {
    this.note(tabId, event);
    const watched = this.#tabs.get(tabId);
    if (watched !== undefined) watched.openedAt = Date.now();
    for (const go of [...(watched?.beginning ?? [])]) go();
  }

  /** What happened since it was last taken. */
  takeEvents(tabId: number): string[] {
    return this.#tabs.get(tabId)?.events.splice(0) ?? [];
  }

  requestsOf(tabId: number): RequestView[] {
    return this.#tabs.get(tabId)?.requests ?? [];
  }

  /** The HTTP status of the document that is shown, if it is known: a browser may tell it a little later, at most so many milliseconds. */
  async statusOf(tabId: number, most: number): Promise<number | undefined> {
    const watched = this.#tabs.get(tabId);
    if (watched !== undefined && watched.status === undefined && most > 0) await this.#next(watched, most);
    return watched?.status;
  }

  /** What has become of the navigation that began last. */
  tripOf(tabId: number): Trip {
    return this.#tabs.get(tabId)?.trip ?? { hasCome: true };
  }

  /** How many documents have come in the tab and its frames: what is the same before and after was done in the same ones. */
  commitsOf(tabId: number): number {
    return this.#tabs.get(tabId)?.commits ?? 0;
  }

  /** Waits until the tab goes nowhere, at most so many milliseconds; whether it has got there. */
  settled(tabId: number, most: number): Promise<boolean> {
    const watched = this.#tabs.get(tabId);
    if (watched === undefined || watched.going === "no") return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = setTimeout(() => done(false), most);
      const done = (is: boolean) => {
        clearTimeout(timer);
        watched.waiting.delete(go);
        resolve(is);
      };
      const go = () => done(true);
      watched.waiting.add(go);
    });
  }

  /** Waits, at most so many milliseconds, until the tab is going elsewhere, or has opened another one. */
  async begins(tabId: number, what: "leaving" | "opening", most: number): Promise<void> {
    const watched = this.#tabs.get(tabId);
    if (watched === undefined || (what === "leaving" ? watched.going !== "no" : Date.now() - watched.openedAt < most)) return;
    await this.#next(watched, most);
  }

  /** Until something begins in the tab, or is answered to it. */
  #next({ beginning }: Watched, most: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(done, most);
      function done(): void {
        clearTimeout(timer);
        beginning.delete(done);
        resolve();
      }
      beginning.add(done);
    });
  }

  /** From now on the tab counts as going, until something of it has come. It is to go once this has settled. */
  async going(tabId: number, url: string): Promise<void> {
    const watched = this.#tabs.get(tabId);
    if (watched === undefined) return;
    Object.assign(watched, { going: "asked", asked: url, trip: { hasCome: false } });
    await this.#goesTo(watched, url);
  }

  #goesTo({ hosts }: Watched, url: string): Promise<void> {
    const host = hostOf(url);
    if (host !== undefined && hosts.size < MOST_HOSTS) hosts.add(host);
    return this.#hosts();
  }

  #hosts(): Promise<void> {
    return this.#react.hosts([...new Set([...this.#tabs.values()].flatMap(({ hosts }) => [...hosts]))]);
  }

  /** Settles when the document that is in a frame now is replaced, or its tab is gone; `stop` when nobody waits any more. */
  leaves(tabId: number, frameId: number): { gone: Promise<void>; stop(): void } {
    const leaving = this.#tabs.get(tabId)?.leaving;
    const entry = { frameId, go: () => {} };
    const gone = new Promise<void>((resolve) => (entry.go = resolve));
    leaving?.add(entry);
    return { gone, stop: () => leaving?.delete(entry) };
  }

  /** Whether an event is of the empty page that a new tab begins with, while it goes elsewhere. */
  #isOfBefore({ going, asked }: Watched, url: string): boolean {
    return going !== "no" && url === "about:blank" && asked !== url;
  }

  before({ tabId, frameId, url }: Navigation): void {
    const watched = this.#tabs.get(tabId);
    if (watched === undefined || (watched.going === "asked" && this.#isOfBefore(watched, url))) return;
    void this.#goesTo(watched, url);
    for (const go of [...watched.beginning]) go();
    if (frameId !== 0) return;
    Object.assign(watched, { going: "begun", asked: url, begun: watched.begun + 1, trip: { hasCome: false } });
    this.#react.setsOut(watched.session, tabId, url);
  }

  committed({ tabId, frameId, url }: Navigation): void {
    const watched = this.#tabs.get(tabId);
    if (watched === undefined) return this.#react.elsewhere(tabId, frameId, url);
    if (frameId === 0 && !this.#isOfBefore(watched, url)) {
      // Firefox shows a page of its own in the place of one that could not be loaded.
      watched.trip.hasCome = isAborted(watched.trip.error ?? "ABORTED");
      watched.status = watched.trip.status;
      watched.requests = watched.requests.filter(({ kind, url: of }) => kind === "main_frame" && of === url.replace(/#.*/s, "")).slice(-1);
      watched.hosts.clear();
      void this.#goesTo(watched, url);
    }
    for (const one of [...watched.leaving]) if (one.frameId === frameId || frameId === 0) one.go();
    watched.commits += 1;
    this.#react.committed(watched.session, tabId, frameId, url, this.#isOfBefore(watched, url));
  }

  loaded({ tabId, frameId, url }: Navigation): void {
    const watched = this.#tabs.get(tabId);
    // What was there before the navigation that is waited for may still be loading.
    if (frameId !== 0 || watched?.going !== "begun" || this.#isOfBefore(watched, url)) return;
    if (watched.trip.hasCome) return this.#arrived(tabId);
    // Firefox says this of a file, and later that it is one.
    const { begun } = watched;
    setTimeout(() => {
      if (watched.begun === begun && watched.going === "begun") this.#arrived(tabId);
    }, AGAIN_MS);
  }

  moved({ tabId, frameId }: Navigation): void {
    if (frameId !== 0) return;
    const trip = this.#tabs.get(tabId)?.trip;
    if (trip !== undefined) trip.hasCome = true;
    this.#arrived(tabId);
  }

  responded({ tabId, status, isFile }: { tabId: number; status: number; isFile: boolean }): void {
    const watched = this.#tabs.get(tabId);
    if (watched === undefined) return;
    const answer: Trip = { hasCome: false, status, ...(isFile ? { isFile } : {}) };
    if (!watched.trip.hasCome) Object.assign(watched.trip, answer);
    else if (!isWithoutPage(answer)) watched.status = status;
    for (const go of [...watched.beginning]) go();
    // Firefox does not tell that it set out for it.
    if (isWithoutPage(answer)) this.#ended(watched, tabId, watched.trip.hasCome ? answer : watched.trip);
  }

  /** A navigation has ended without a document. */
  #ended(watched: Watched, tabId: number, trip: Trip): void {
    if (trip.isTold) return;
    trip.isTold = true;
    trip.error ??= "";
    this.note(tabId, endOf(trip) ?? "an address was not shown");
    for (const go of [...watched.beginning]) go();
    if (watched.going !== "no") this.#arrived(tabId);
  }

  failed({ tabId, frameId, url, error }: Navigation & { error: string }): void {
    const watched = this.#tabs.get(tabId);
    if (frameId !== 0 || watched === undefined || this.#isOfBefore(watched, url)) return;
    const { begun, trip } = watched;
    trip.error = error;
    // Where the browser takes another process for it, Firefox says this and begins anew.
    setTimeout(() => {
      if (watched.begun !== begun || watched.going !== "begun") return;
      this.#ended(watched, tabId, trip);
    }, AGAIN_MS);
  }

  #arrived(tabId: number): void {
    const watched = this.#tabs.get(tabId);
    if (watched === undefined) return;
    watched.going = "no";
    for (const go of [...watched.waiting]) go();
  }

  opened(tabId: number, openerId: number, url: string): void {
    this.#react.kin(tabId, openerId);
    const session = this.sessionOf(openerId);
    if (session === undefined) return;
    this.add(tabId, session);
    // Where it goes is told of the tab itself, once that was judged.
    this.note(openerId, `the page opened tab ${tabId}`);
    const opener = this.#tabs.get(openerId);
    if (opener !== undefined) opener.openedAt = Date.now();
    for (const go of [...(opener?.beginning ?? [])]) go();
    this.#react.opened(session, tabId, openerId, url);
  }

  closed(tabId: number): void {
    const session = this.sessionOf(tabId);
    if (session === undefined) return;
    this.drop(tabId);
    this.#react.closed(session, tabId);
  }

  replaced(tabId: number, before: number): void {
    const session = this.sessionOf(before);
    if (session === undefined) return;
    this.drop(before);
    this.add(tabId, session);
    this.note(tabId, `the browser unloaded tab ${before} to save memory: it is now tab ${tabId}`);
    this.#react.replaced(session, tabId, before);
  }

  shown(tabId: number, windowId: number): void {
    const now = this.#shown.get(windowId)?.now;
    if (now !== tabId) this.#shown.set(windowId, { now: tabId, ...(now === undefined ? {} : { before: now }) });
  }

  /** The tab that a window showed before this one. */
  shownBefore(tabId: number, windowId: number): number | undefined {
    const shown = this.#shown.get(windowId);
    return shown?.now === tabId ? shown.before : shown?.now;
  }

  grouped(tabId: number, groupId: number): void {
    const session = this.sessionOf(tabId);
    if (session !== undefined) this.#react.left(session, tabId, groupId);
    else if (groupId !== -1) this.#react.joined(tabId, groupId);
  }

  answered(request: RequestView): void {
    const watched = this.#tabs.get(request.tabId);
    if (watched === undefined) return;
    const { requests, trip } = watched;
    const before = requests.findIndex(({ id }) => id === request.id);
    // Firefox tells of one that failed twice.
    if (before !== -1) requests.splice(before, 1);
    requests.push(request);
    if (requests.length > MOST_REQUESTS) requests.shift();
    if (request.kind !== "main_frame") return;
    if (request.error !== undefined && !trip.hasCome && !isAborted(request.error)) trip.error = request.error;
    if (request.status === undefined) return;
    trip.status = request.status;
    if (trip.hasCome) watched.status = request.status;
  }
}
