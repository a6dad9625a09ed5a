// Whether the tools of the page in a tab may be looked at, and whether the person has switched its site on.
//
// Owns where that choice is kept. Must never let through what the panel would not attach by itself: the rule is the same one.

import type { Store } from "../../shared/browser/api.ts";
import { type TabView, mayReadSite, tabOf } from "../../shared/browser/tabs.ts";
import type { Hosts } from "../page/hosts.ts";
import { choiceKey, originOf, parseChoice, standingOf } from "../sidebar/chat/page_rules.ts";
import type { Judged } from "./tab.ts";
import type { Way } from "./way.ts";

const key = (origin: string): string => `pageTools ${origin}`;

export class Judging {
  readonly #store: Store;
  readonly #hosts: () => Promise<Hosts | undefined>;
  readonly #way: Pick<Way, "fields">;

  constructor(store: Store, hosts: () => Promise<Hosts | undefined>, way: Pick<Way, "fields">) {
    this.#store = store;
    this.#hosts = hosts;
    this.#way = way;
  }

  async choose(origin: string, isOn: boolean): Promise<void> {
    await this.#store.set(key(origin), isOn ? "on" : "off");
  }

  async isOn(origin: string | undefined): Promise<boolean> {
    return origin !== undefined && (await this.#store.get(key(origin))) === "on";
  }

  /** Judges the page of a tab; nothing where its tools may not be looked at. Rejects where the page does not answer. */
  async judge(tabId: number): Promise<Judged | undefined> {
    const tab = await tabOf(tabId);
    const origin = originOf(tab?.url);
    if (tab === undefined || origin === undefined || tab.without !== undefined || !(await mayReadSite(origin))) return undefined;
    if (!(await this.#mayBe(tab, origin))) return undefined;
    return { origin, title: tab.title, isOn: await this.isOn(origin) };
  }

  async #mayBe(tab: TabView, origin: string): Promise<boolean> {
    const [hosts, choice] = await Promise.all([this.#hosts().catch(() => undefined), this.#store.get(choiceKey(origin)).then(parseChoice)]);
    const open = { tab: tab.id, origin, isPrivate: tab.isPrivate === true, isLoading: false };
    const { is } = standingOf({ open, choice, hosts, read: undefined });
    if (is !== "on" && is !== "off") return false;
    // Nothing where the document went away meanwhile.
    const sensitive: unknown[] | undefined = await this.#way.fields(tab.id);
    return sensitive?.length === 0;
  }
}
