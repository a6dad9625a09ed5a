// The `@` list above the field: tabs, files and what servers offer, each to go with the next message.
//
// Owns which of them is marked, and the keys meanwhile. Must never read a tab, a file or a resource that the person has not chosen.

import { allTabs, askForTabs, mayReadSite, maySeeTabs } from "../../../shared/browser/tabs.ts";
import { isFields } from "../../../shared/ports/wire.ts";
import { type Child, type Props, h } from "../dom.ts";
import type { Hands } from "../hands.ts";
import { oneLine } from "../parts.ts";
import { type AtItem, GROUPS, foundIn, mentionAt, moved, without } from "./at.ts";
import { FILES, MOST_TEXT, attached } from "./attaching.ts";
import { field } from "./field.ts";
import { attach, attachTab, withPage } from "./page_doing.ts";
import { originOf } from "./page_rules.ts";
import { PageError } from "./page_take.ts";
import { serversOf } from "./picking.ts";

const LIST = "at-list";

/** What the field says to assistive technology of the list. */
export function atProps({ state: { at } }: Hands): Props {
  const found = at === undefined ? [] : foundIn(at.items, at.mention.query);
  if (at === undefined || found.length === 0) return { "aria-autocomplete": "list" };
  return { "aria-autocomplete": "list", "aria-controls": LIST, "aria-activedescendant": `${LIST}-${at.at}` };
}

/** The person has typed: the list opens, narrows or closes. */
export function atTyped(hands: Hands): void {
  const found = field();
  const mention = found === null ? undefined : mentionAt(found.value, found.selectionStart);
  const { at } = hands.state;
  if (mention === undefined) {
    if (at !== undefined) hands.change({ at: undefined });
    return;
  }
  hands.change({ at: { mention, items: at?.items ?? [], at: 0 } });
  if (at === undefined) void load(hands);
}

/** Takes a key while the list is open; false: it means what it always means. */
export function atKey(hands: Hands, event: Event): boolean {
  const { at } = hands.state;
  if (at === undefined) return false;
  const { key, isComposing } = event as KeyboardEvent;
  const found = foundIn(at.items, at.mention.query);
  const step = key === "ArrowDown" ? 1 : key === "ArrowUp" ? -1 : 0;
  if (isComposing || (found.length === 0 && key !== "Escape")) return false;
  if (step !== 0) hands.change({ at: { ...at, at: moved(at.at, step, found.length) } });
  else if (key === "Enter" || key === "Tab") choose(hands, found[at.at]);
  else if (key === "Escape") hands.change({ at: undefined });
  else return false;
  event.preventDefault();
  return true;
}

function choose(hands: Hands, item: AtItem | undefined): void {
  const { at } = hands.state;
  const found = field();
  if (item === undefined || at === undefined || found === null) return;
  // First: the browser asks for permissions in a click or a key only.
  item.choose();
  // Ours may lead to more of the list.
  if (item.key === "show tabs") return;
  found.value = without(found.value, at.mention);
  found.setSelectionRange(at.mention.from, at.mention.from);
  hands.change({ at: undefined });
  found.dispatchEvent(new Event("input", { bubbles: true }));
  found.focus();
}

export function atList(hands: Hands): Child[] {
  const { at } = hands.state;
  if (at === undefined) return [];
  const found = foundIn(at.items, at.mention.query);
  if (found.length === 0) return [h("p.soft", { key: "at none", role: "status" }, at.items.length === 0 ? "Looking for tabs and files…" : "Nothing here has that name. Escape closes this.")];
  const groups = GROUPS.filter((group) => found.some((item) => item.group === group));
  return [
    h(
      "div.at",
      { key: "at", id: LIST, role: "listbox", "aria-label": "Attach to your message" },
      ...groups.map((group) => h("div", { key: group, role: "group", "aria-label": group }, h("p.soft", { "aria-hidden": "true" }, group), ...found.map((item, index) => (item.group === group ? option(hands, item, index, at.at) : undefined)))),
    ),
  ];
}

function option(hands: Hands, item: AtItem, index: number, at: number): Child {
  // Before the field loses the focus.
  const press = (event: Event) => event.preventDefault();
  const words = item.isOurs ? item.label : oneLine(item.label);
  return h(
    "div.option",
    { key: item.key, id: `${LIST}-${index}`, role: "option", "aria-selected": String(index === at), on: { mousedown: press, click: () => choose(hands, item) } },
    h("span.cut", {}, words),
    item.about === undefined ? undefined : h("span.soft.cut", {}, oneLine(item.about)),
  );
}

async function load(hands: Hands): Promise<void> {
  const add = (items: AtItem[]) => {
    const { at } = hands.state;
    const keys = new Set(items.map(({ key }) => key));
    if (at !== undefined) hands.change({ at: { ...at, items: [...at.items.filter(({ key }) => !keys.has(key)), ...items] } });
  };
  add([{ group: "Files", key: "file", label: "Choose files…", isOurs: true, choose: () => document.getElementById(FILES)?.click() }]);
  add(await tabItems(hands));
  for (const { server_id: id, state } of hands.state.servers ?? []) {
    if (state === "running" && serversOf(hands)?.includes(id) !== false) void resourceItems(hands, id).then(add, () => undefined);
  }
}

async function tabItems(hands: Hands): Promise<AtItem[]> {
  const tabs = (await allTabs()).filter(({ isPrivate }) => isPrivate !== true);
  const found = tabs.map(async ({ id, url, title }): Promise<AtItem[]> => {
    const origin = originOf(url);
    if (origin === undefined) return [];
    const mayRead = await mayReadSite(origin);
    return [{ group: "Tabs", key: `tab ${id}`, label: title || url, about: new URL(url).host, choose: () => attachTab(hands, id, origin, mayRead) }];
  });
  const items = (await Promise.all(found)).flat();
  if (await maySeeTabs()) return items;
  return [...items, { group: "Tabs", key: "show tabs", label: "Show all open tabs…", isOurs: true, choose: () => void showTabs(hands) }];
}

/** Their names need a permission of the browser. */
async function showTabs(hands: Hands): Promise<void> {
  const isYes = await askForTabs().catch(() => false);
  if (!isYes) hands.say("You did not let the browser name your tabs. Nothing has changed.");
  if (!isYes) return;
  const tabs = await tabItems(hands);
  // The person may have typed on, or closed the list, meanwhile.
  const { at } = hands.state;
  if (at !== undefined) hands.change({ at: { ...at, at: 0, items: [...at.items.filter(({ group }) => group !== "Tabs"), ...tabs] } });
}

async function resourceItems(hands: Hands, server_id: string): Promise<AtItem[]> {
  const { resources } = await hands.ask("mcp_list_resources", { server_id });
  const list = Array.isArray(resources) ? resources.filter(isFields) : [];
  return list.flatMap(({ uri, name, title }): AtItem[] => {
    if (typeof uri !== "string" || uri.length > 4_096) return [];
    const label = [title, name, uri].find((one): one is string => typeof one === "string" && one !== "") ?? uri;
    return [{ group: "Resources", key: `resource ${server_id} ${uri}`, label, about: server_id, choose: () => attachResource(hands, server_id, uri, label) }];
  });
}

function attachResource(hands: Hands, server_id: string, uri: string, label: string): void {
  withPage(hands, async () => {
    const { resource } = await hands.ask("mcp_read_resource", { server_id, uri });
    const { contents } = Object(resource) as { contents?: unknown };
    const texts = (Array.isArray(contents) ? contents.filter(isFields) : []).flatMap(({ text }) => (typeof text === "string" ? text : []));
    if (texts.length === 0) throw new PageError("This resource has no text, so nothing was attached.");
    attach(hands, attached({ type: "text", title: label.slice(0, 300), text: fitting(texts.join("\n\n")) }));
  });
}

function fitting(text: string): string {
  if (new TextEncoder().encode(text).length > MOST_TEXT) throw new PageError("It is larger than 1 MB, which is the most that goes with a message. Nothing was attached.");
  return text;
}
