// What a chat is said with: its model, and the servers that it may use.
//
// Owns the two menus above the field. Where a model runs is always said: what leaves this machine is marked.

import type { Model } from "../../../shared/protocol/generated/messages.ts";
import { visible } from "../../../shared/text/visible.ts";
import { type Child, type VNode, h } from "../dom.ts";
import type { Hands } from "../hands.ts";
import { oneLine } from "../parts.ts";
import { hrefOf } from "../route.ts";
import { count } from "../words.ts";

const READ = "models of chats";

/** Reads which models there are. */
export function loadModels(hands: Hands, left?: AbortSignal): void {
  hands.read(
    READ,
    async (signal) => {
      const { active, model } = await hands.ask("llm_get_active", {}, { signal });
      const { models } = await hands.ask("llm_list_models", {}, { signal });
      const first = models.find(({ provider }) => provider === active);
      const chosen = model === undefined || active === undefined ? first?.id : `${active}:${model}`;
      hands.change({ models: { list: models, chosen } });
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
  const { models } = hands.state;
  const now = modelOf(hands);
  const known = models?.list.find(({ id }) => id === now);
  const words = now === undefined ? (models === undefined ? "…" : "No model yet") : visible(known?.model ?? now).text;
  const options = models?.list.map((one) => option(hands, one, one.id === now)) ?? [];
  return h(
    "details.menu",
    { id: "model-menu" },
    h("summary", { "aria-label": `Model: ${words}` }, place(known), h("span.cut", {}, words)),
    h("div.sheet", {}, h("ul.options", {}, ...options), h("a", { href: hrefOf({ at: "models" }) }, "Add or change models")),
  );
}

function place(model: Model | undefined): Child {
  if (model === undefined) return undefined;
  return h("span.place", { "data-local": String(model.is_local), title: placeWords(model) }, h("span.unseen", {}, `${placeWords(model)}: `));
}

export function placeWords({ is_local: local }: Pick<Model, "is_local">): string {
  return local ? "On this machine" : "Leaves this machine";
}

function option(hands: Hands, model: Model, isChosen: boolean): VNode {
  const { id, context_window: window, tools, vision } = model;
  const choose = () => {
    const { composing, chat } = hands.state;
    hands.change({ composing: { ...composing, model: id } });
    closeMenus();
    if (chat?.id !== undefined) {
      const session_id = chat.id;
      hands.act("choose model", async () => {
        const { session } = await hands.ask("chat_update_session", { session_id, updates: { model: id } });
        const { chat: now, composing: then } = hands.state;
        if (now?.id === session_id) hands.change({ chat: { ...now, session }, composing: { ...then, model: undefined } });
      });
    }
  };
  const marks = [placeWords(model), window === undefined ? undefined : `${Math.round(window / 1_000)}k tokens`, tools === false ? "no tools" : undefined, vision === true ? "sees pictures" : undefined];
  return h(
    "li",
    { key: id },
    h("button.option", { type: "button", "aria-pressed": String(isChosen), "data-model": visible(id).text, on: { click: choose } }, place(model), h("span.what", {}, oneLine(id), h("span.soft", {}, marks.filter((mark) => mark !== undefined).join(" · ")))),
  );
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
    const change = () => choose(hands, isOn ? (chosen ?? servers.map(({ server_id }) => server_id)).filter((one) => one !== id) : [...(chosen ?? []), id]);
    return h("li", { key: id }, h("button.option.switch", { type: "button", role: "switch", "aria-checked": String(isOn), on: { click: change } }, oneLine(label)));
  });
  const none = servers.length === 0 ? h("p.soft", {}, "No servers yet. ", h("a", { href: hrefOf({ at: "add" }) }, "Add one")) : undefined;
  return h("details.menu", { id: "server-menu" }, h("summary", { "aria-label": `Tools: ${words}` }, words), h("div.sheet", {}, none, h("ul.options", {}, ...boxes)));
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

function closeMenus(): void {
  for (const menu of document.querySelectorAll("details.menu[open]")) menu.removeAttribute("open");
}
