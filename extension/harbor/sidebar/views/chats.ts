// The person's chats: found again, renamed, deleted.
//
// Owns the list. Deleting deletes: it asks first, and nothing brings a chat back.

import { type Child, type VNode, h } from "../dom.ts";
import type { Hands, View } from "../hands.ts";
import { button, empty, failure, notice, oneLine, waiting } from "../parts.ts";
import { hrefOf } from "../route.ts";
import type { ChatSession } from "../../../shared/protocol/generated/messages.ts";
import { count, timeWords } from "../words.ts";

const READ = "chats";
const MOST = 200;

/** The chat that the person is asked about. */
let deleting: string | undefined;

export const chats: View<{ at: "chats" }> = {
  title: () => "Your chats",
  enter(hands, _, signal) {
    deleting = undefined;
    load(hands, signal);
  },
  show(hands) {
    const { chats: known } = hands.state;
    return [
      h("a.back", { href: hrefOf({ at: "chat" }), id: "back" }, "Chat"),
      h("h2", { tabindex: "-1", id: "title" }, "Your chats"),
      failure(hands, READ),
      ...(known === undefined ? [waiting("Reading your chats…")] : listed(hands, known.list, known.total)),
    ];
  },
};

function load(hands: Hands, left?: AbortSignal): void {
  hands.read(
    READ,
    async (signal) => {
      const { sessions, total } = await hands.ask("chat_list_sessions", { limit: MOST }, { signal });
      hands.change({ chats: { list: sessions, total, query: "", excerpts: {} } });
    },
    left,
  );
}

function listed(hands: Hands, list: ChatSession[], total: number): Child[] {
  if (list.length === 0) return [empty("No chats yet.")];
  return [
    h("ul.rows.chats", {}, ...list.map((one) => row(hands, one))),
    total > list.length ? h("p.soft", {}, `${total - list.length} older ones: `, h("code", {}, "harbor sessions")) : undefined,
  ];
}

function row(hands: Hands, { id, name, messageCount, updatedAt, private: isPrivate, turn_id: turn }: ChatSession): VNode {
  const facts = [timeWords(updatedAt), count(messageCount, "message"), isPrivate ? "private" : undefined, turn === undefined ? undefined : "answering now"];
  const ask = () => {
    deleting = id;
    hands.change({});
  };
  return h(
    "li.server",
    { key: id },
    h("div.what", {}, h("a.name.whole", { href: hrefOf({ at: "chat", id }) }, name === "" ? "New chat" : oneLine(name)), h("p.soft", {}, facts.filter((fact) => fact !== undefined).join(" · "))),
    button("Delete", ask, { id: `delete-${id}`, class: "quiet danger", "aria-label": `Delete the chat ${name}` }),
    deleting === id ? confirm(hands, id) : undefined,
    failure(hands, `delete ${id}`),
  );
}

function confirm(hands: Hands, session_id: string): VNode {
  const keep = () => {
    deleting = undefined;
    hands.change({});
  };
  const remove = () =>
    hands.act(`delete ${session_id}`, async () => {
      await hands.ask("chat_delete_session", { session_id });
      deleting = undefined;
      const { chats: known, chat } = hands.state;
      if (known !== undefined) hands.change({ chats: { ...known, list: known.list.filter(({ id }) => id !== session_id), total: known.total - 1 } });
      if (chat?.id === session_id) hands.change({ chat: undefined });
      hands.say("Deleted");
    });
  return notice("warn", h("p", {}, "Delete this chat with all its messages? It cannot be brought back."), h("p.buttons", {}, button("Keep it", keep, { id: "keep" }), button("Delete", remove, { id: "really", class: "danger", busy: hands.isBusy(`delete ${session_id}`) })));
}
