// The browser as a source of tools: registered at the bridge while the person has it switched on, called by it.
//
//   bridge ─ source_call ─► tabs of the session ─► tool ─► source_result
//          ◄─ source_event (opened, closed, navigated: may it?) ─┘
//
// Owns the calls under way. Must never decide whose a tab is, or where a session may go: the
// bridge says both.

import { type TabView, isGoneBackTo, listen, mayRunScripts, mayUsePages, onPermissions, reload, tabOf } from "../../shared/browser/tabs.ts";
import { mayUseCookies } from "../../shared/browser/cookies.ts";
import { listenToDownloads, mayFollowDownloads } from "../../shared/browser/downloads.ts";
import type { NativeClient } from "../../shared/native/client.ts";
import type { Fields } from "../../shared/ports/wire.ts";
import { KeptBodies } from "./bodies.ts";
import { isOfPage } from "../page_source/result.ts";
import { type Call, DeniedError, ToolError, needed, parseCall } from "./call.ts";
import { Closed, Documents, Silent, WentAway, closed } from "./documents.ts";
import { Downloads } from "./downloads.ts";
import type { ClosedTabs } from "./closed_tabs.ts";
import { Early } from "./early.ts";
import { type Hand, LOAD_MS } from "./hand.ts";
import { keptBy } from "./kept.ts";
import { Members, type Said, type Told } from "./members.ts";
import type { Numbers } from "./numbers.ts";
import { BLANK, Places, type Verdict } from "./places.ts";
import { type Outcome, type ToolResult, resultOf } from "./result.ts";
import { Snapshots } from "./snapshots.ts";
import { TOOLS } from "./tools/index.ts";
import type { SessionView } from "./switch.ts";
import { Typed } from "./typed.ts";
import { Watch } from "./watch.ts";

type Bridge = Pick<NativeClient, "request" | "watch" | "onState" | "onPush" | "state">;

/** What a client wants at a site that the person is asked about. */
export type SiteWish = "open" | "scripts" | "logins" | "bodies";

/** Asks the person about it; nothing where they do not answer. */
export type AskAboutSite = (client: string, host: string, wish: SiteWish, signal: AbortSignal) => Promise<boolean | undefined>;

interface Session {
  last?: string;
  label: string;
  colour: string;
}

/** What the bridge calls it when the person is to be asked about a site. */
const ASKS: ReadonlyMap<string, SiteWish> = new Map([["ask_site", "open"], ["ask_evaluate", "scripts"], ["ask_storage", "logins"], ["ask_bodies", "bodies"]]);

/** Tools that need no tab to be there. */
const WITHOUT_TAB = new Set(["browser_tabs"]);

/** How much of a call's time is left when it is given up, in milliseconds, at most. */
const SPARE_MS = 1_000;

export class BrowserSource {
  readonly #bridge: Bridge;
  readonly #name: string;
  readonly #ask: AskAboutSite;
  readonly #sessions = new Map<string, Session>();
  readonly #calls = new Map<string, AbortController>();
  readonly #documents: Documents;
  readonly #snapshots: Snapshots;
  readonly #watch: Watch;
  readonly #places: Places;
  readonly #members: Members;
  readonly #early = new Early();
  readonly #bodies = new KeptBodies();
  readonly #downloads: Downloads;
  readonly #closed: ClosedTabs;
  #abilities = "";
  #sourceId: string | undefined;
  #changed: () => void = () => undefined;
  readonly #typed = new Typed();
  #isOn = false;
  #following: Promise<void> = Promise.resolve();
  #listening = false;
  #followsDownloads = false;
  /** What it was registered with besides the tools of every browser. */
  #unwatch: (() => void) | undefined;

  constructor(bridge: Bridge, name: string, ask: AskAboutSite, numbers: Numbers, closed: ClosedTabs) {
    this.#bridge = bridge;
    this.#closed = closed;
    this.#name = name;
    this.#ask = ask;
    this.#watch = new Watch({
      setsOut: (session, tabId, url) => this.#places.setsOut(session, tabId, url),
      committed: (session, tabId, frameId, url, isFirst) => this.#committed(session, tabId, frameId, url, isFirst),
      kin: (tabId, openerId) => void this.#closed.opened(tabId, openerId),
      opened: (session, tabId, openerId, url) => void this.#members.opened(session, tabId, openerId, url),
      closed: (session, tabId) => this.#members.closed(session, tabId),
      replaced: (session, tabId, before) => void this.#members.replaced(session, tabId, before),
      elsewhere: (tabId, frameId, url) => {
        void this.#early.leave(tabId, frameId, url).catch(() => undefined);
        if (frameId === 0) void this.#closed.committed(tabId, isGoneBackTo(tabId));
      },
      hosts: (hosts) => this.#early.follow(hosts),
      left: (session, tabId, groupId) => this.#members.left(session, tabId, groupId),
      joined: (tabId, groupId) => void this.#members.joined(tabId, groupId),
    });
    this.#places = new Places({
      judge: (session, tabId, url, noted) => this.#judge(session, tabId, url, noted),
      going: (tabId, url) => void this.#watch.going(tabId, url),
      settled: (tabId, most) => this.#watch.settled(tabId, most),
      has: (session, tabId) => this.#watch.sessionOf(tabId) === session,
    });
    this.#documents = new Documents({
      leaves: (tabId, frameId) => this.#watch.leaves(tabId, frameId),
      allowed: (tabId) => this.#places.allowed(tabId),
      tell: (tabId, note) => this.#watch.note(tabId, note),
      may: (tabId, place) => this.#places.may(this.#watch.sessionOf(tabId) ?? "", tabId, place),
    }, numbers);
    this.#snapshots = new Snapshots(this.#documents);
    this.#downloads = new Downloads({
      sessionOf: (tabId) => this.#watch.sessionOf(tabId),
      tabsOf: (session) => this.#watch.tabsOf(session),
      tell: (tab_id, download) => this.#event("download", { tab_id, url: download.url, download }),
      note: (tabId, event) => this.#watch.began(tabId, event),
    });
    this.#members = new Members({
      ...{ watch: this.#watch, places: this.#places },
      event: (event, fields) => this.#event(event, fields),
      look: (session) => this.#sessions.get(session),
      forget: (tabId) => this.#forget(tabId),
      changed: () => this.#changed(),
    });
    const follow = (): void => void this.#follow().catch((error: unknown) => console.error("the browser tools were not switched", error));
    bridge.onState(follow);
    bridge.onPush((type, fields) => this.#pushed(type, fields));
    onPermissions(follow);
  }

  /** Switches it on or off, as the person wants. On, it also needs the browser's permission for pages. */
  async switch(on: boolean): Promise<void> {
    this.#isOn = on;
    await this.#follow();
  }

  /** From now on elements are marked before they are used, or not. */
  mark(on: boolean): void {
    this.#documents.highlight = on;
  }

  /** Looks again what it can do: Chromium tells nobody of its switch for scripts. */
  refresh(): Promise<void> {
    return this.#follow();
  }

  /** What the bridge calls it, while it is registered there. */
  get id(): string | undefined {
    return this.#sourceId;
  }

  /** Called when a session, or what it has open, has changed. */
  onChange(listener: () => void): void {
    this.#changed = listener;
  }

  /** What clients have open. */
  async sessions(): Promise<SessionView[]> {
    const all = [...this.#sessions].map(async ([id, { label, last }]) => {
      const tabs = (await Promise.all(this.#watch.tabsOf(id).map(tabOf))).filter((tab) => tab !== undefined);
      return { id, label, tabs: tabs.map(({ id: tab, title, url }) => ({ id: tab, title, url })), ...(last === undefined ? {} : { last }) };
    });
    return Promise.all(all);
  }

  /** Ends a session, as the person wants: its tabs stay, and are the person's. */
  async stop(session_id: string): Promise<void> {
    await this.#event("stop", { session_id }).catch(() => undefined);
    await this.#ended(session_id, false);
  }

  /** Registers where everything is there for it, and ends that where it is not: one step after the other, each with what is wanted then. */
  #follow(): Promise<void> {
    const next = this.#following.then(() => this.#step());
    this.#following = next.catch(() => undefined);
    return next;
  }

  async #step(): Promise<void> {
    const wanted = this.#isOn && (await mayUsePages());
    if (wanted && !this.#listening) {
      this.#listening = true;
      // Nothing is left of the background before this one.
      void this.#early.follow([]);
      listen(this.#watch);
    }
    const abilities = wanted ? await abilitiesNow() : [];
    if (abilities.includes("downloads") && !this.#followsDownloads) {
      this.#followsDownloads = true;
      listenToDownloads(this.#downloads);
    }
    if (wanted) this.#unwatch ??= this.#bridge.watch();
    if (this.#bridge.state.is !== "ready") {
      this.#sourceId = undefined;
      for (const call of this.#calls.values()) call.abort(new ToolError("Harbor has ended"));
      return;
    }
    // The person has let it do more, or less: it is registered anew.
    if (wanted && (this.#sourceId === undefined || abilities.join() !== this.#abilities)) {
      this.#abilities = abilities.join();
      const { source_id } = await this.#bridge.request("source_register", { kind: "browser", name: this.#name, abilities });
      this.#sourceId = source_id;
    } else if (!wanted && this.#sourceId !== undefined) {
      const source_id = this.#sourceId;
      this.#sourceId = undefined;
      this.#unwatch?.();
      this.#unwatch = undefined;
      await this.#bridge.request("source_unregister", { source_id });
    }
  }

  #pushed(type: string, fields: Fields): void {
    if (type === "source_call" && !isOfPage(fields)) void this.#called(fields);
    else if (type === "source_cancel" && typeof fields["call_id"] === "string") this.#calls.get(fields["call_id"])?.abort(new ToolError("the call was cancelled"));
    else if (type === "source_session_ended" && typeof fields["session_id"] === "string") void this.#ended(fields["session_id"], fields["close_tabs"] === true);
  }

  async #called(fields: Fields): Promise<void> {
    const call = parseCall(fields);
    if (call === undefined) return;
    const abort = new AbortController();
    this.#calls.set(call.call_id, abort);
    // A little before the bridge gives the call up: it cannot say whom it waited for.
    const time = Math.floor(call.timeout_ms - Math.min(SPARE_MS, call.timeout_ms / 10));
    const timer = setTimeout(() => abort.abort(new ToolError(`the page did not answer within ${time / 1000} s`)), time);
    try {
      const stopped = new Promise<never>((_, reject) => abort.signal.addEventListener("abort", () => reject(abort.signal.reason), { once: true }));
      const result = await Promise.race([this.#answer(call, abort.signal), stopped]);
      await this.#bridge.request("source_result", { call_id: call.call_id, result });
    } catch (error) {
      await this.#bridge.request("source_result", { call_id: call.call_id, result: failed(error) }).catch(() => undefined);
    } finally {
      clearTimeout(timer);
      this.#calls.delete(call.call_id);
      this.#changed();
    }
  }

  /** Closes the page API where a script is about to run, and wherever that could reach. */
  async #closeApi(tabId: number, session: string): Promise<void> {
    // One that was opened before this background listened is known to the browser.
    const opener = (await tabOf(tabId))?.opener;
    if (opener !== undefined) await this.#closed.opened(tabId, opener);
    await this.#closed.close(tabId, this.#watch.tabsOf(session));
  }

  async #answer(call: Call, signal: AbortSignal): Promise<ToolResult> {
    const wish = ASKS.get(call.tool_name);
    if (wish !== undefined) return this.#answerOf(call, wish, signal);
    const tool = TOOLS.get(call.tool_name);
    if (tool === undefined) throw new ToolError(`this browser has no tool ${call.tool_name}`);
    this.#noted(call);
    this.#typed.note(call.session_id, call.arguments);
    const tab = await this.#tabFor(call);
    const told = () => this.#toldOf(call.session_id);
    const hand: Hand = {
      ...{ args: call.arguments, tab, signal, documents: this.#documents, watch: this.#watch, snapshots: this.#snapshots, told },
      tabs: this.#watch.tabsOf(call.session_id),
      mayUse: this.#mayUse(call, tab),
      open: (url) => this.#members.open(call.session_id, url),
      openBeside: (url) => this.#members.open(call.session_id, url, tab.id),
      without: (text) => this.#without(call, text),
      piece: async (file, offset) => (await this.#bridge.request("source_file", { call_id: call.call_id, file, offset })).data,
      release: (tabId) => this.#members.release(tabId),
      keepBodies: (site) => this.#bodies.keep(call.session_id, site),
      closeApi: (tabId) => this.#closeApi(tabId, call.session_id),
    };
    this.#downloads.acts(tab.id);
    const outcome = await tool(hand).catch((error: unknown) => outcomeOf(error));
    // What was opened in another tab is told of that one: its page may be no more read than any.
    const { tabId = tab.id } = outcome;
    const here = await this.#places.here(call.session_id, tabId);
    const refused = this.#places.takeRefusal(tabId);
    return this.#told(call, here, refused === undefined ? outcome : deniedOutcome("The page led to an address that this session may not use, so the tab has left it", refused));
  }

  /** The person's answer about a site, for the bridge. */
  async #answerOf(call: Call, wish: SiteWish, signal: AbortSignal): Promise<ToolResult> {
    const allowed = await this.#ask(call.session.label, needed(call.arguments, "host"), wish, signal);
    return { content: [], structuredContent: allowed === undefined ? {} : { allowed } };
  }

  async #told(call: Call, here: TabView | undefined, outcome: Outcome): Promise<ToolResult> {
    await this.#downloads.due(call.session_id);
    const isThere = here !== undefined && !outcome.isSilent && (await this.#documents.awake(here.id, 0).then(() => true, () => false));
    const { dialogs } = isThere ? await keptBy({ tab: here, documents: this.#documents, mayUse: this.#mayUse(call, here) }) : { dialogs: [] };
    const events = [
      ...(here === undefined ? [] : this.#watch.takeEvents(here.id)),
      ...dialogs.map(({ kind, message, answer }) => `${kind} ${JSON.stringify(message)} was ${answer}${kind === "confirm" || kind === "prompt" ? "; for another answer call browser_handle_dialog, then do it again" : ""}`),
    ];
    const all = await this.#toldOf(call.session_id);
    const tabs = all.map(({ id, url, title }) => ({ id, url, title, current: id === here?.id }));
    const unplanned = dialogs.filter(({ kind, planned }) => /^(alert|confirm|prompt)$/.test(kind) && !planned).length;
    const counted = unplanned === 0 ? outcome : { ...outcome, structured: { ...outcome.structured, dialogs: unplanned } };
    return resultOf(counted, { ...(here === undefined ? {} : { tab: here }), tabs, events }, crypto.randomUUID(), (text) => this.#without(call, text));
  }

  /** Whether a call may use documents from somewhere. */
  #mayUse({ session_id }: Call, { id }: TabView): Hand["mayUse"] {
    return (url) => this.#places.may(session_id, id, url);
  }

  /** A text without what no answer of this session has. */
  #without({ session_id }: Call, text: string): string {
    return this.#documents.secrets.without(this.#watch.tabsOf(session_id), this.#typed.without(session_id, text));
  }

  /** The session's tabs as they may be told of. */
  async #toldOf(session: string): Promise<TabView[]> {
    const tabs = (await Promise.all(this.#watch.tabsOf(session).map(tabOf))).filter((tab) => tab !== undefined);
    return Promise.all(tabs.map((tab) => this.#places.asTold(session, tab)));
  }

  /** What the bridge says of a session with each call of it. */
  #noted({ session_id, tool_name, session: { label, colour, tabs } }: Call): void {
    this.#sessions.set(session_id, { label, colour, last: tool_name.replace(/^browser_/, "") });
    for (const tab of tabs) this.#watch.add(tab, session_id);
  }

  /** The tab that is meant, once what it shows has been judged; a new one where the session has none. */
  async #tabFor(call: Call): Promise<TabView> {
    const { tab_id } = call.session;
    const tab = tab_id === undefined ? undefined : await this.#places.here(call.session_id, tab_id);
    // It may have gone while this background was not there to hear of it.
    if (tab_id !== undefined && tab === undefined) this.#members.closed(call.session_id, tab_id);
    if (WITHOUT_TAB.has(call.tool_name)) return tab ?? { id: -1, windowId: -1, url: "", title: "", active: false, loading: false };
    if (tab_id === undefined) return this.#members.open(call.session_id, BLANK);
    if (tab === undefined) throw new ToolError(closed(tab_id));
    return tab.without === "discarded" ? this.#loadAgain(call.session_id, tab) : tab;
  }

  /** What the browser has thrown out of memory is there again when it is used. */
  async #loadAgain(session: string, tab: TabView): Promise<TabView> {
    const { id } = __BROWSER__ === "chrome" ? await this.#members.renewed(session, tab) : tab;
    if (id === tab.id) {
      await this.#watch.going(id, "");
      await reload(id);
    }
    await this.#watch.settled(id, LOAD_MS);
    const again = await this.#places.here(session, id);
    if (again === undefined) throw new ToolError(closed(id));
    return again;
  }

  async #event(event: string, fields: Told): Promise<Said> {
    if (!this.#sourceId) throw new ToolError("Harbor is not connected");
    return this.#bridge.request("source_event", { source_id: this.#sourceId, event, ...fields });
  }

  /** What the bridge says of an address: no where it cannot be asked. */
  async #judge(session_id: string, tab_id: number, url: string, noted: boolean): Promise<Verdict> {
    // The bridge judges tabs of sessions: it has to know first that this is one.
    await this.#members.known(tab_id);
    const asked = this.#event(noted ? "navigated" : "frame", { session_id, tab_id, url });
    const { verdict, reason } = await asked.catch((): Said => ({ verdict: "denied", reason: "Harbor did not answer the question" }));
    return { allowed: verdict === "allowed", ...(verdict === "denied" ? { reason: reason ?? "it is not allowed" } : {}) };
  }

  #committed(session: string, tabId: number, frameId: number, url: string, isFirst: boolean): void {
    // Before the page's scripts, so also in a document that has not been judged: it keeps lists in the page itself, gives nothing
    // to anybody and can do nothing that the page could not. They are read in a place that was judged alone.
    void this.#early.begin(tabId, frameId, this.#bodies.areKept(session, url)).catch(() => undefined);
    this.#documents.secrets.left(tabId, frameId);
    if (frameId !== 0) return;
    void this.#closed.committed(tabId, isGoneBackTo(tabId));
    const verdict = this.#places.commits(session, tabId, url);
    if (!isFirst) void verdict.then(({ allowed }) => this.#watch.note(tabId, allowed ? `went to ${url}` : "was led to an address that is not allowed, and has left it"));
  }

  async #ended(session: string, close: boolean): Promise<void> {
    this.#sessions.delete(session);
    this.#typed.forget(session);
    this.#bodies.ended(session);
    await this.#members.ended(session, close);
  }

  #forget(tabId: number): void {
    this.#documents.forget(tabId);
    this.#snapshots.forget(tabId);
    this.#places.forget(tabId);
    this.#downloads.forget(tabId);
  }

}

function outcomeOf(error: unknown): Outcome {
  // What a document says of itself has the page's words in it.
  if (error instanceof DeniedError) return deniedOutcome("Not done", error.message);
  if (error instanceof Silent) return { said: `It could not be done: ${error.message}.`, isError: true, isSilent: true };
  if (error instanceof ToolError) return { said: "It could not be done.", page: error.message, isError: true };
  if (error instanceof Closed) return { said: `It could not be done: ${error.message}.`, isError: true };
  if (error instanceof WentAway) return { said: "The page has gone to another document. Take a new snapshot.", isError: true };
  throw error;
}

/** A denial is told from a failure, and ends that path. */
function deniedOutcome(what: string, why: string): Outcome {
  const message = `${what}: ${why}`;
  return { said: `Denied: ${message}. Do not try to reach this in another way; tell the person instead.`, structured: { denied: { reason: "address", message } }, isError: true };
}

function failed(error: unknown): ToolResult {
  const text = error instanceof ToolError ? error.message : "the browser could not do this";
  if (!(error instanceof ToolError)) console.error("a browser tool failed", error);
  return { content: [{ type: "text", text }], structuredContent: { result: text }, isError: true };
}

/** What this browser can do now that not every browser can. */
async function abilitiesNow(): Promise<string[]> {
  const [cookies, downloads, evaluate] = await Promise.all([mayUseCookies(), mayFollowDownloads(), mayRunScripts()]);
  return [...(cookies ? ["cookies"] : []), ...(downloads ? ["downloads"] : []), ...(evaluate ? ["evaluate"] : [])];
}
