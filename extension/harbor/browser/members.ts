// Which tabs are in which session, as the browser tells: opened by a tool or by a page, put in or taken out by the person, gone.
//
//   browser ─► Watch ─► Members ─► bridge: whose is it? ─► the session's group, or closed, or the person's
//
// Owns that the extension and the bridge say the same of a tab. Must never keep a tab that the bridge did not give to the session.

import { type TabView, closeTabs, goTo, openBehind, showTab, tabOf, ungroup } from "../../shared/browser/tabs.ts";
import type { Requests } from "../../shared/protocol/generated/messages.ts";
import { DeniedError } from "./call.ts";
import { Groups } from "./groups.ts";
import { BLANK, type Places } from "./places.ts";
import type { Watch } from "./watch.ts";

export type Told = Omit<Requests["source_event"], "source_id" | "event">;
export type Said = { verdict?: string; reason?: string };

/** What is asked and done outside of here. */
export interface Around {
  watch: Watch;
  places: Places;
  /** Tells the bridge. */
  event(event: string, fields: Told): Promise<Said>;
  /** How a session's group looks. */
  look(session: string): { label: string; colour: string } | undefined;
  /** Nothing is kept of a tab from now on. */
  forget(tabId: number): void;
  changed(): void;
}

const noAnswer = (): Said => ({ verdict: "denied" });

export class Members {
  readonly #around: Around;
  readonly #groups = new Groups();
  /** Tabs that a page has opened, until the bridge knows of them. */
  readonly #opening = new Map<number, Promise<unknown>>();

  constructor(around: Around) {
    this.#around = around;
  }

  /** Settles when the bridge knows whose a tab is. */
  known(tabId: number): Promise<unknown> {
    return this.#opening.get(tabId) ?? Promise.resolve();
  }

  /** A new tab of a session, which goes there. `opener`: whose page leads there; without one it becomes the tab that is meant. */
  async open(session: string, url: string, opener?: number): Promise<TabView> {
    const { watch, event } = this.#around;
    // Empty first: nothing is loaded before the bridge knows whose it is and where it may go.
    const tab = await openBehind(BLANK);
    watch.add(tab.id, session);
    const answer = await event("tab_opened", { tab_id: tab.id, url, ...(opener === undefined ? { session_id: session } : { opener_tab_id: opener }) }).catch(async (error: unknown) => {
      // The bridge is gone, and nobody knows of the tab.
      watch.drop(tab.id);
      await closeTabs([tab.id]);
      throw error;
    });
    if (answer.verdict === "denied") {
      await closeTabs([tab.id]);
      throw new DeniedError(answer.reason ?? "this session cannot have more tabs");
    }
    await this.#intoGroup(tab.id, session);
    if (url === BLANK) return tab;
    await watch.going(tab.id, url);
    await goTo(tab.id, url);
    return (await tabOf(tab.id)) ?? tab;
  }

  /** A page of a session's has opened another tab. */
  async opened(session_id: string, tab_id: number, opener_tab_id: number, url: string): Promise<void> {
    // Without the session's name: it is its opener's, and does not become the one that is meant.
    const told = this.#around.event("tab_opened", { tab_id, opener_tab_id }).catch(noAnswer);
    this.#opening.set(tab_id, told);
    this.#around.places.setsOut(session_id, tab_id, url);
    const [answer] = await Promise.all([told, this.#keepBehind(tab_id)]);
    this.#opening.delete(tab_id);
    await (answer.verdict === "denied" ? closeTabs([tab_id]) : this.#intoGroup(tab_id, session_id).catch(() => undefined));
  }

  /** Firefox shows what a page opens: the person is given back what they looked at. */
  async #keepBehind(tabId: number): Promise<void> {
    const tab = await tabOf(tabId);
    const before = tab?.active ? this.#around.watch.shownBefore(tabId, tab.windowId) : undefined;
    if (before !== undefined) await showTab(before).catch(() => undefined);
  }

  closed(session_id: string, tab_id: number): void {
    this.#around.forget(tab_id);
    this.#around.changed();
    void this.#around.event("tab_closed", { session_id, tab_id }).catch(() => undefined);
  }

  /** It is the session's as before; the current one where it was that. */
  async replaced(session_id: string, tab_id: number, before: number): Promise<void> {
    this.#around.forget(before);
    const answer = await this.#around.event("tab_opened", { tab_id, opener_tab_id: before }).catch(noAnswer);
    this.closed(session_id, before);
    if (answer.verdict !== "denied") return;
    // It was the last that the session may have: the person's from now on.
    await this.release(tab_id);
  }

  /**
   * What the browser has thrown out of memory is there again as another tab: loaded again by itself, Chromium gives it no size, and
   * so no place to point at, until somebody shows it.
   */
  async renewed(session: string, { id, url }: TabView): Promise<TabView> {
    const { watch } = this.#around;
    const tab = await openBehind(BLANK);
    watch.drop(id);
    watch.add(tab.id, session);
    watch.note(tab.id, `tab ${id}, which the browser had unloaded to save memory, is loaded again as tab ${tab.id}`);
    await this.replaced(session, tab.id, id);
    await closeTabs([id]);
    await this.#intoGroup(tab.id, session);
    await watch.going(tab.id, url);
    await goTo(tab.id, url);
    return tab;
  }

  /** Taken out of its group by the person: it is theirs again. */
  left(session_id: string, tab_id: number, groupId: number): void {
    if (!this.#groups.isOut(tab_id, session_id, groupId)) return;
    this.#around.forget(tab_id);
    this.#around.watch.drop(tab_id);
    void this.#around.event("released", { session_id, tab_id }).catch(() => undefined);
  }

  /** The session gives it to the person; the bridge learns that from the answer. */
  async release(tabId: number): Promise<void> {
    this.#around.watch.drop(tabId);
    this.#around.forget(tabId);
    await ungroup([tabId]);
  }

  /** Put into a session's group by the person: it is the session's from now on. */
  async joined(tab_id: number, groupId: number): Promise<void> {
    const session_id = this.#groups.sessionOf(groupId);
    if (session_id === undefined) return;
    this.#around.watch.add(tab_id, session_id);
    // A browser may put what a page opens into its opener's group before it tells that it was opened.
    const opener_tab_id = (await tabOf(tab_id))?.opener;
    const isPopup = opener_tab_id !== undefined && this.#around.watch.sessionOf(opener_tab_id) === session_id;
    const answer = await this.#around.event("tab_opened", { tab_id, ...(isPopup ? { opener_tab_id } : { session_id }) }).catch(noAnswer);
    if (answer.verdict !== "denied") return this.#around.changed();
    this.#around.watch.drop(tab_id);
    await ungroup([tab_id]);
  }

  /** A session is over: its tabs are the person's, or closed. */
  async ended(session: string, close: boolean): Promise<void> {
    const tabs = this.#around.watch.tabsOf(session);
    for (const tab of tabs) {
      this.#around.watch.drop(tab);
      this.#around.forget(tab);
    }
    this.#groups.forget(session);
    this.#around.changed();
    if (tabs.length === 0) return;
    await (close ? closeTabs(tabs) : ungroup(tabs));
  }

  async #intoGroup(tabId: number, session: string): Promise<void> {
    const look = this.#around.look(session);
    if (look !== undefined) await this.#groups.put(tabId, session, look);
  }
}
