// The tools of pages as sources of the bridge: which tabs have some, and the calls under way.
//
//   bridge ─ source_call ─► judged again ─► the tool, in the page ─► source_result
//
// Owns the calls, and that the connection stays while something is offered. Must never call a tool in a page that may not be used any
// more, or answer for one that is gone.

import type { Port } from "../../shared/browser/api.ts";
import { type TabView, allTabs, tabOf } from "../../shared/browser/tabs.ts";
import type { NativeClient } from "../../shared/native/client.ts";
import type { After } from "../../shared/ports/caller.ts";
import type { Fields } from "../../shared/ports/wire.ts";
import type { Requests } from "../../shared/protocol/generated/messages.ts";
import { originOf } from "../sidebar/chat/page_rules.ts";
import type { Judging } from "./judging.ts";
import { type SourceCall, answerOf, failed, gone, isOfPage, parseSourceCall } from "./result.ts";
import { type Around, TabTools } from "./tab.ts";
import type { PageToolsChange, PageToolsView } from "./view.ts";
import type { Way } from "./way.ts";

type Bridge = Pick<NativeClient, "request" | "watch" | "onState" | "onPush" | "state">;
type Result = Omit<Requests["source_result"], "call_id">;

/** How much of a call's time is left when it is given up, in milliseconds, at most. */
const SPARE_MS = 1_000;

/** The longest that a browser's timer takes, in milliseconds: a longer one is due at once. */
const LONGEST_MS = 2 ** 31 - 1;

export class PageSources {
  readonly #bridge: Bridge;
  readonly #way: Way;
  readonly #judging: Pick<Judging, "judge" | "choose" | "isOn">;
  readonly #after: After;
  readonly #tell: (view: PageToolsView) => void;
  readonly #tabs = new Map<number, TabTools>();
  readonly #calls = new Map<string, AbortController>();
  #unwatch: (() => void) | undefined;

  /** `tell`: hears of what changes in a tab. */
  constructor(bridge: Bridge, way: Way, judging: Pick<Judging, "judge" | "choose" | "isOn">, after: After, tell: (view: PageToolsView) => void) {
    this.#bridge = bridge;
    this.#way = way;
    this.#judging = judging;
    this.#after = after;
    this.#tell = tell;
    bridge.onState(() => this.#follow());
    bridge.onPush((type, fields) => this.#pushed(type, fields));
  }

  /** Looks at all tabs whose sites are switched on, and at what is known of others: this background is new, or the browser lets it do more or less. */
  async begin(): Promise<void> {
    for (const tab of this.#tabs.values()) if (tab.page !== undefined) tab.due();
    for (const tab of await allTabs()) await this.#lookAt(tab);
  }

  /** What the panel shows of a tab; with `on`: once the site of its page is switched. */
  async change({ tab: id, origin, on, look = false }: PageToolsChange): Promise<PageToolsView> {
    const tab = this.#tabOf(id);
    // The tab may have gone to another site since the person saw the switch.
    const isThere = origin !== undefined && originOf((await tabOf(id))?.url) === origin;
    if (on !== undefined && isThere) {
      await this.#judging.choose(origin, on);
      const all = (await allTabs()).filter(({ url }) => originOf(url) === origin).map((one) => this.#tabOf(one.id));
      // Off is off at once, also in a page that does not answer.
      if (!on) await Promise.all(all.map((one) => one.off()));
      for (const other of all) if (other !== tab) other.due();
    }
    if (on !== undefined || look) await tab.look();
    else tab.due();
    return viewOf(tab);
  }

  /** The document of a tab has opened its port. */
  heard(port: Port): void {
    const { tab, frameId } = port.sender;
    const known = tab === undefined || frameId !== 0 ? undefined : this.#tabs.get(tab.id);
    if (known === undefined) port.disconnect();
    else known.heard(port);
  }

  /** Another document may be there. Where nothing is known of a page, and its site is not on, only the panel asks. */
  async updated(id: number): Promise<void> {
    if (this.#tabs.get(id)?.page !== undefined) return this.#tabOf(id).due();
    const tab = await tabOf(id);
    if (tab !== undefined) await this.#lookAt(tab);
  }

  async closed(id: number): Promise<void> {
    const tab = this.#tabs.get(id);
    this.#tabs.delete(id);
    await tab?.leave();
    this.#hold();
  }

  async #lookAt({ id, url }: TabView): Promise<void> {
    if (await this.#judging.isOn(originOf(url))) this.#tabOf(id).due();
  }

  #tabOf(id: number): TabTools {
    const known = this.#tabs.get(id);
    if (known !== undefined) return known;
    const around: Around = { bridge: this.#bridge, way: this.#way, judge: (tabId) => this.#judging.judge(tabId), after: this.#after, changed: (tab) => this.#changed(tab), left: (tabId) => void this.updated(tabId).catch(() => undefined) };
    const made = new TabTools(id, around);
    this.#tabs.set(id, made);
    return made;
  }

  #changed(tab: TabTools): void {
    this.#hold();
    this.#tell(viewOf(tab));
  }

  /** Keeps the connection up while something is to be offered. */
  #hold(): void {
    const isWanted = [...this.#tabs.values()].some(({ page }) => page?.isOn === true && page.tools.length > 0);
    if (isWanted) this.#unwatch ??= this.#bridge.watch();
    else {
      this.#unwatch?.();
      this.#unwatch = undefined;
    }
  }

  /** A new connection knows of no sources. */
  #follow(): void {
    const isReady = this.#bridge.state.is === "ready";
    if (!isReady) for (const call of this.#calls.values()) call.abort(failed("gone", "Harbor has ended"));
    for (const tab of this.#tabs.values()) isReady ? tab.due() : tab.lost();
  }

  #pushed(type: string, fields: Fields): void {
    const { call_id } = fields;
    if (type === "source_cancel" && typeof call_id === "string") this.#calls.get(call_id)?.abort(failed("cancelled", "the call was cancelled"));
    const call = type === "source_call" && isOfPage(fields) ? parseSourceCall(fields) : undefined;
    if (call !== undefined) void this.#called(call);
  }

  async #called(call: SourceCall): Promise<void> {
    const stop = new AbortController();
    this.#calls.set(call.call_id, stop);
    // A little before the bridge gives the call up: it cannot say whom it waited for.
    const time = Math.min(LONGEST_MS, Math.floor(call.timeout_ms - Math.min(SPARE_MS, call.timeout_ms / 10)));
    const cancelTimer = this.#after(time, () => stop.abort(failed("timeout", `the page did not answer within ${time / 1000} s`)));
    try {
      const result = await this.#answer(call, stop).catch((): Result => gone());
      await this.#bridge.request("source_result", { call_id: call.call_id, ...result }).catch(() => undefined);
    } finally {
      cancelTimer();
      this.#calls.delete(call.call_id);
    }
  }

  /** Has the tool called, unless the page or the call ends before. */
  async #answer({ source_id, tool_name: name, input }: SourceCall, stop: AbortController): Promise<Result> {
    const tab = [...this.#tabs.values()].find(({ sourceId }) => sourceId === source_id);
    const page = tab?.page;
    const mark = page?.tools.find(({ offer }) => offer.name === name)?.mark;
    if (tab === undefined || page === undefined) return gone();
    if (mark === undefined) return answerOf({ is: "changed" });
    // What has become of the page since it was listed is looked at first.
    if ((await this.#judging.judge(tab.id))?.isOn !== true) return this.#left(tab);
    const key = crypto.randomUUID();
    const ends = AbortSignal.any([stop.signal, page.gone.signal]);
    const ended = new Promise<Result>((resolve) => {
      const end = () => resolve(stop.signal.aborted ? (stop.signal.reason as Result) : gone());
      if (ends.aborted) end();
      else ends.addEventListener("abort", end, { once: true });
    });
    const called = ends.aborted ? ended : this.#way.call(tab.id, { key, origin: page.origin, born: page.born, name, mark, input }).then(answerOf, gone);
    const result = await Promise.race([called, ended]);
    if (ends.aborted) void this.#way.cancel(tab.id, key).catch(() => undefined);
    else if (result.error !== undefined) tab.due();
    return result;
  }

  /** The page may not be used any more. */
  async #left(tab: TabTools): Promise<Result> {
    await tab.look();
    return gone();
  }
}

function viewOf({ id, page, sourceId, problem }: TabTools): PageToolsView {
  const view = { tab: id, tools: page?.tools.length ?? 0, on: page?.isOn === true };
  return { ...view, ...(sourceId === undefined ? {} : { source: sourceId }), ...(problem === undefined ? {} : { problem }) };
}
