// What a chat is said with: its model, and the servers that it may use.
//
// Owns the two menus above the field. Where a model runs is always said: what leaves this machine is marked.

import type { Model } from "../../../shared/protocol/generated/messages.ts";
import { visible } from "../../../shared/text/visible.ts";
import { type VNode, h } from "../dom.ts";
import type { Hands } from "../hands.ts";
import { placeSign } from "../models/adding.ts";
import { search } from "../models/provider.ts";
import { readModels } from "../models/reading.ts";
import { MANY, marksOf, matching, placeWords } from "../models/words.ts";
import { oneLine } from "../parts.ts";
import { hrefOf } from "../route.ts";
import { count } from "../words.ts";
import { prepareFirstRun } from "./first_run.ts";

const READ = "models of chats";
/** The menu among the lists that are searched. */
const MENU = "menu";
/** So many models are shown at once; the search finds the rest. */
const SHOWN = 50;

/** Reads which models there are. */
export function loadModels(hands: Hands, left?: AbortSignal): void {
  hands.read(
    READ,
    async (signal) => {
      await readModels(hands, signal);
      await prepareFirstRun(hands, signal);
    },
    left,
  );
}

/** The model that the next message goes to. */
export function modelOf({ state }: Hands): string | undefined {
  return state.composing.model ?? state.chat?.session?.model ?? state.models?.chosen;
}

/** The menu of models. */
export function modelMenu(hands: Hands): VNode {
  const { models, providers } = hands.state;
  const now = modelOf(hands);
  const known = models?.list.find(({ id }) => id === now);
  const words = now === undefined ? (models === undefined ? "…" : "No model yet") : visible(known?.model ?? now).text;
  const all = models?.list ?? [];
  const found = all.length > MANY ? matching(all, providers.queries[MENU] ?? "") : all;
  const pickFirst = () => found[0] !== undefined && pick(hands, found[0]);
  return h(
    "details.menu",
    { id: "model-menu", on: { keydown: escape, toggle: opened } },
    h("summary", { "aria-label": `Model: ${words}` }, known === undefined ? undefined : placeSign(known.is_local, placeWords(known)), h("span.cut", {}, words)),
    h(
      "div.sheet",
      {},
      all.length > MANY ? search(hands, MENU, "Search models", pickFirst) : undefined,
      h("ul.options", {}, ...found.slice(0, SHOWN).map((one) => option(hands, one, one.id === now))),
      all.length > 0 && found.length === 0 ? h("p.soft", { role: "status" }, "No model matches.") : undefined,
      found.length > SHOWN ? h("p.soft", {}, `${found.length - SHOWN} more: search for a part of the name.`) : undefined,
      h("a", { href: hrefOf({ at: "models" }) }, "Add or change models"),
    ),
  );
}

function option(hands: Hands, model: Model, isChosen: boolean): VNode {
  const { id } = model;
  return h(
    "li",
    { key: id },
    h("button.option", { type: "button", "aria-pressed": String(isChosen), "data-model": visible(id).text, on: { click: () => pick(hands, model) } }, placeSign(model.is_local, placeWords(model)), h("span.what", {}, oneLine(id), h("span.soft", {}, [placeWords(model), ...marksOf(model)].join(" · ")))),
  );
}

function pick(hands: Hands, { id }: Model): void {
  const { composing, chat, providers } = hands.state;
  hands.change({ composing: { ...composing, model: id }, providers: { ...providers, queries: { ...providers.queries, [MENU]: "" } } });
  closeMenus();
  if (chat?.id === undefined) return;
  const session_id = chat.id;
  hands.act("choose model", async () => {
    const { session } = await hands.ask("chat_update_session", { session_id, updates: { model: id } });
    const { chat: now, composing: then } = hands.state;
    if (now?.id === session_id) hands.change({ chat: { ...now, session }, composing: { ...then, model: undefined } });
  });
}

/** The servers whose tools a chat may use; `undefined`: all. */
export function serversOf({ state }: Hands): string[] | undefined {
  return state.chat?.session === undefined ? state.composing.servers : state.chat.session.enabledServers;
}

/** The menu of servers. */
export function serverMenu(hands: Hands): VNode {
  const { servers = [] } = hands.state;
  const chosen = serversOf(hands);
  const words = chosen === undefined ? "All tools" : chosen.length === 0 ? "No tools" : count(chosen.length, "server");
  const boxes = servers.map(({ server_id: id, label }) => {
    const isOn = chosen === undefined || chosen.includes(id);
    const change = () => {
      // As it is when it is pressed: what is drawn may be a frame older.
      const now = serversOf(hands) ?? servers.map(({ server_id }) => server_id);
      choose(hands, now.includes(id) ? now.filter((one) => one !== id) : [...now, id]);
    };
    return h("li", { key: id }, h("button.option.switch", { type: "button", role: "switch", "aria-checked": String(isOn), on: { click: change } }, oneLine(label)));
  });
  const none = servers.length === 0 ? h("p.soft", {}, "No servers yet. ", h("a", { href: hrefOf({ at: "add" }) }, "Add one")) : undefined;
  return h("details.menu", { id: "server-menu", on: { keydown: escape } }, h("summary", { "aria-label": `Tools: ${words}` }, words), h("div.sheet", {}, none, h("ul.options", {}, ...boxes)));
}

function choose(hands: Hands, list: string[]): void {
  const { chat, composing, servers = [] } = hands.state;
  const all = servers.every(({ server_id }) => list.includes(server_id));
  if (chat?.id === undefined) {
    hands.change({ composing: { ...composing, servers: all ? undefined : list } });
    return;
  }
  const session_id = chat.id;
  hands.act("choose servers", async () => {
    const { session } = await hands.ask("chat_update_session", { session_id, updates: { enabledServers: all ? ["*"] : list } });
    const { chat: now } = hands.state;
    if (now?.id === session_id) hands.change({ chat: { ...now, session } });
  });
}

/** Escape closes a menu, and the keyboard goes on from where it was opened. */
function escape(event: Event): void {
  if ((event as KeyboardEvent).key !== "Escape") return;
  event.stopPropagation();
  const menu = event.currentTarget as HTMLElement;
  menu.removeAttribute("open");
  menu.querySelector("summary")?.focus();
}

/** Whoever opens a menu with a search types into it at once. */
function opened({ currentTarget }: Event): void {
  const menu = currentTarget as HTMLDetailsElement;
  if (menu.open) menu.querySelector<HTMLElement>("input")?.focus();
}

function closeMenus(): void {
  for (const menu of document.querySelectorAll("details.menu[open]")) menu.removeAttribute("open");
}
