// The downloads that begin in tabs of sessions: whose each is, and what has become of it.
//
//   a tab is answered ─┐
//   a download begins ─┴─► same address? ─► that tab's ─► told to the bridge, now and at each change
//                          made by a page itself (blob, data) ─► a session's tab at its origin, `own` where nobody else's is there
//
// Browsers do not say in which tab a download began. Owns that question. Must never tell a session of a download that the person may
// have begun, unless the session was acting there in that moment; its bytes are then nobody's.

import { type DownloadListener, type DownloadView, downloadOf } from "../../shared/browser/downloads.ts";
import { type TabView, allTabs } from "../../shared/browser/tabs.ts";
import type { BrowserDownload } from "../../shared/protocol/generated/messages.ts";
import { originOf } from "./result.ts";

/** How long after an answer its download may begin, and how long after an action of a session's one counts as begun by it, in milliseconds. */
const ANSWER_MS = 10_000;
const ACT_MS = 2_000;

/** How long a tool's answer waits for a download whose file has been answered, and how often one under way is looked at, in milliseconds. */
const DUE_MS = 800;
const LOOK_MS = 1_000;

/** How long a file's name, and the answer that brings it, are waited for, and how often that is looked at, in milliseconds. */
const NAME_MS = 300;
const NAME_LOOK_MS = 20;

const MOST_ANSWERS = 200;

/** How often the end of a download is told that the bridge does not take. */
const MOST_TRIES = 10;

/** What is asked and done outside of here. */
export interface Around {
  /** The session that has a tab. */
  sessionOf(tabId: number): string | undefined;
  tabsOf(session: string): number[];
  /** Tells the bridge how a download of a session's tab is now. */
  tell(tabId: number, download: BrowserDownload): Promise<unknown>;
  /** Something is said of the tab with its next answer. */
  note(tabId: number, event: string): void;
}

interface Of {
  session: string;
  /** Where it began; that tab may be gone. */
  tabId: number;
  own: boolean;
}

/** What was answered to a tab, and whose that was then: a tab that was opened for a file closes at once. */
interface Answered {
  tabId: number;
  session: string | undefined;
  url: string;
  at: number;
}

export class Downloads implements DownloadListener {
  readonly #around: Around;
  readonly #tabs: () => Promise<TabView[]>;
  readonly #download: (id: number) => Promise<DownloadView | undefined>;
  /** What was answered to any tab, the newest last. */
  readonly #answers: Answered[] = [];
  /** Files that were answered to a session's tab, and have not begun as downloads. */
  readonly #due = new Map<number, { session: string; promise: Promise<void>; settle(): void }>();
  readonly #acted = new Map<number, number>();
  /** Downloads of sessions' tabs whose end the bridge does not know. */
  readonly #open = new Map<number, Of & { said: string; untold: number }>();
  #looking: ReturnType<typeof setTimeout> | undefined;

  constructor(around: Around, tabs: () => Promise<TabView[]> = allTabs, look = downloadOf) {
    this.#around = around;
    this.#tabs = tabs;
    this.#download = look;
  }

  /** A session does something in a tab. */
  acts(tabId: number): void {
    this.#acted.set(tabId, Date.now());
  }

  forget(tabId: number): void {
    this.#acted.delete(tabId);
    this.#due.get(tabId)?.settle();
  }

  /** Settles once the downloads have begun whose files were answered to tabs of the session, or a moment later. */
  async due(session: string): Promise<void> {
    await Promise.all([...this.#due.values()].filter((due) => due.session === session).map((due) => due.promise));
  }

  came(tabId: number, url: string, isFile: boolean): void {
    const session = this.#around.sessionOf(tabId);
    this.#answers.push({ tabId, session, url, at: Date.now() });
    if (this.#answers.length > MOST_ANSWERS) this.#answers.shift();
    if (!isFile || session === undefined || this.#due.has(tabId)) return;
    const due = { session, promise: Promise.resolve(), settle: () => {} };
    due.promise = new Promise((resolve) => {
      const timer = setTimeout(() => due.settle(), DUE_MS);
      due.settle = () => {
        clearTimeout(timer);
        this.#due.delete(tabId);
        resolve();
      };
    });
    this.#due.set(tabId, due);
  }

  began(download: DownloadView): void {
    if (!download.isPrivate) void this.#began(download);
  }

  changed(id: number): void {
    if (this.#open.has(id)) void this.#look(id);
  }

  async #began(download: DownloadView): Promise<void> {
    const of = (await this.#byAnswer(download.url)) ?? (await this.#byPlace(download));
    if (of === undefined) return;
    this.#open.set(download.id, { ...of, said: "", untold: 0 });
    const named = await this.#named(download);
    await this.#say(named);
    const name = nameOf(named);
    // Where the session acts its next answer is: a file may have been opened in another tab.
    const tabId = this.#latest(this.#around.tabsOf(of.session)) ?? this.#tabOf(of);
    if (tabId !== undefined) this.#around.note(tabId, `the download ${JSON.stringify(name)} began; browser_downloads tells of it and waits for its end`);
    this.#due.get(of.tabId)?.settle();
    this.#lookLater();
  }

  /** Firefox may tell of a download before it tells of the answer. */
  async #byAnswer(url: string): Promise<Of | undefined> {
    if (!/^https?:/i.test(url)) return undefined;
    for (const end = Date.now() + NAME_MS; ; await new Promise((done) => setTimeout(done, NAME_LOOK_MS))) {
      const of = whoseByAnswer(url, this.#answers, Date.now());
      if (of !== undefined || Date.now() >= end) return of;
    }
  }

  /** Chromium chooses the name of a file a moment after it has begun. */
  async #named(download: DownloadView): Promise<DownloadView> {
    let now = download;
    for (const end = Date.now() + NAME_MS; now.path === "" && Date.now() < end; ) {
      await new Promise((done) => setTimeout(done, NAME_LOOK_MS));
      now = (await this.#download(download.id).catch(() => undefined)) ?? now;
    }
    return now;
  }

  /** What a page has made itself was answered by nobody: it is of a tab at the page's origin. */
  async #byPlace({ url, referrer }: DownloadView): Promise<Of | undefined> {
    if (!/^(blob|data):/i.test(url)) return undefined;
    // Firefox does not say from where a `data:` address was saved: then it may be any page.
    const from = /^blob:/i.test(url) ? url.slice(5) : referrer;
    const isThere = (tab: TabView) => (from === "" ? /^https?:/.test(tab.url) : originOf(tab.url) === originOf(from));
    const there = (await this.#tabs()).filter(isThere).map(({ id }) => id);
    const sessions = there.filter((id) => this.#around.sessionOf(id) !== undefined);
    const tabId = this.#latest(sessions);
    const session = tabId === undefined ? undefined : this.#around.sessionOf(tabId);
    if (tabId === undefined || session === undefined) return undefined;
    const own = sessions.length === there.length && new Set(sessions.map((id) => this.#around.sessionOf(id))).size === 1;
    return own || Date.now() - this.#since(tabId) < ACT_MS ? { session, tabId, own } : undefined;
  }

  /** The tab in which it began, or another one of the same session. */
  #tabOf({ session, tabId }: Of): number | undefined {
    if (this.#around.sessionOf(tabId) === session) return tabId;
    return this.#latest(this.#around.tabsOf(session));
  }

  /** The one of these tabs in which a session has acted last. */
  #latest(tabIds: number[]): number | undefined {
    return tabIds.toSorted((one, other) => this.#since(other) - this.#since(one))[0];
  }

  /** When a session has acted in a tab. */
  #since(tabId: number): number {
    return this.#acted.get(tabId) ?? 0;
  }

  /** Asks the browser how one is, and says what is new. */
  async #look(id: number): Promise<void> {
    const download = await this.#download(id).catch(() => undefined);
    // The person has removed it from the browser's list.
    await (download === undefined ? this.#gone(id) : this.#say(download));
  }

  async #gone(id: number): Promise<void> {
    const open = this.#open.get(id);
    this.#open.delete(id);
    const tabId = open === undefined ? undefined : this.#tabOf(open);
    if (tabId !== undefined) await this.#around.tell(tabId, { id, url: "", path: "", mime: "", bytes: 0, state: "interrupted", error: "it was removed from the browser's list", own: false }).catch(() => undefined);
  }

  async #say(download: DownloadView): Promise<void> {
    const open = this.#open.get(download.id);
    if (open === undefined) return;
    const { id, url, path, mime, bytes, total, state, error } = download;
    // The address of a `data:` download is the file itself.
    const told: BrowserDownload = { id, url: url.slice(0, 2_000), path, mime, bytes, ...(total === undefined ? {} : { total }), state, ...(error === undefined ? {} : { error }), own: open.own };
    const said = JSON.stringify(told);
    if (said === open.said) return;
    open.said = said;
    const tabId = this.#tabOf(open);
    const isTold = tabId === undefined || (await this.#around.tell(tabId, told).then(() => true, () => false));
    // A tab that was opened for the file may close in this moment: it is told with the next look, of another one.
    if (!isTold) open.said = "";
    open.untold = isTold ? 0 : open.untold + 1;
    if (state !== "in_progress" && (isTold || open.untold >= MOST_TRIES)) this.#open.delete(id);
  }

  /** Browsers do not tell how much has come. */
  #lookLater(): void {
    if (this.#looking !== undefined || this.#open.size === 0) return;
    this.#looking = setTimeout(() => {
      this.#looking = undefined;
      void Promise.all([...this.#open.keys()].map((id) => this.#look(id))).then(() => this.#lookLater());
    }, LOOK_MS);
  }
}

/** The session whose tab was answered with this address, the newest; `own` where nobody else's was. Pure. */
export function whoseByAnswer(url: string, answers: Answered[], now: number): Of | undefined {
  const bare = (whole: string) => whole.replace(/#.*/s, "");
  const same = answers.filter((answer) => bare(answer.url) === bare(url) && now - answer.at < ANSWER_MS);
  const { tabId, session } = same.filter((answer) => answer.session !== undefined).at(-1) ?? {};
  if (tabId === undefined || session === undefined) return undefined;
  return { session, tabId, own: same.every((answer) => answer.session === session) };
}

/** What its file is called, or its address says. */
function nameOf({ path, url }: DownloadView): string {
  const name = (path || url.replace(/[?#].*/s, "")).split(/[/\\]/).at(-1) ?? "";
  return (name || "download").slice(0, 255);
}
