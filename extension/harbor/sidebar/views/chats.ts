// The person's chats: searched, pinned, opened, deleted, brought in.
//
// Owns the list and what is searched for. Deleting deletes: it asks first, and nothing brings a chat back.

import { CodedError } from "../../../shared/protocol/codes.ts";
import type { ChatSession } from "../../../shared/protocol/generated/messages.ts";
import { deleteChat } from "../chat/chat_menu.ts";
import { type Child, type VNode, h } from "../dom.ts";
import type { Hands, View } from "../hands.ts";
import { button, empty, failure, foreign, notice, oneLine, waiting } from "../parts.ts";
import { hrefOf } from "../route.ts";
import { count, timeWords } from "../words.ts";

const READ = "chats";
const PAGE = 50;
const MOST_IMPORT = 32 * 1024 * 1024;

/** The chat that the person is asked about. */
let deleting: string | undefined;
let query = "";

export const chats: View<{ at: "chats" }> = {
  title: () => "Your chats",
  enter(hands, _, signal) {
    deleting = undefined;
    query = "";
    load(hands, signal);
  },
  show(hands) {
    const { chats: known } = hands.state;
    return [
      h("a.back", { href: hrefOf({ at: "chat" }), id: "back" }, "Chat"),
      h("h2", { tabindex: "-1", id: "title" }, "Your chats"),
      search(hands),
      failure(hands, READ),
      ...(known === undefined ? [waiting("Reading your chats…")] : listed(hands, known)),
      bringIn(hands),
    ];
  },
};

function load(hands: Hands, left?: AbortSignal, offset = 0): void {
  hands.read(
    READ,
    async (signal) => {
      const wanted = query.trim();
      const { sessions, total, excerpts, is_partial: isPartial } = await hands.ask("chat_list_sessions", { limit: PAGE, offset, ...(wanted === "" ? {} : { query: wanted }) }, { signal });
      const before = offset === 0 ? undefined : hands.state.chats;
      const found = Object.fromEntries(excerpts.map(({ session_id, text }) => [session_id, text]));
      hands.change({ chats: { list: [...(before?.list ?? []), ...sessions], total, excerpts: { ...before?.excerpts, ...found }, isPartial } });
    },
    left,
  );
}

function search(hands: Hands): VNode {
  const input = ({ target }: Event) => {
    query = (target as HTMLInputElement).value;
    hands.cancel(READ);
    load(hands, hands.here);
  };
  const props = { id: "search-chats", type: "search", placeholder: "Search what was said, and tools", "aria-label": "Search your chats", autocomplete: "off" };
  return h("div.search", {}, h("input", { ...props, on: { input } }));
}

function listed(hands: Hands, { list, total, excerpts, isPartial }: NonNullable<Hands["state"]["chats"]>): Child[] {
  if (list.length === 0) return [empty(query.trim() === "" ? "No chats yet." : "No chat has these words.")];
  const more = () => load(hands, hands.here, list.length);
  return [
    h("ul.rows.chats", {}, ...list.map((one) => row(hands, one, excerpts[one.id]))),
    total > list.length ? button(`Show more (${total - list.length} left)`, more, { id: "more-chats", class: "quiet", busy: hands.isBusy(READ) }) : undefined,
    isPartial ? h("p.soft", {}, "The search took too long. Your oldest chats were not searched.") : undefined,
  ];
}

function row(hands: Hands, session: ChatSession, excerpt: string | undefined): VNode {
  const { id, name, messageCount, updatedAt, private: isPrivate, turn_id: turn, branchAt, pinned } = session;
  const facts = [timeWords(updatedAt), count(messageCount, "message"), isPrivate ? "private" : undefined, branchAt === undefined ? undefined : "branch", turn === undefined ? undefined : "answering now"];
  const ask = () => {
    deleting = id;
    hands.change({});
  };
  const pin = () =>
    hands.act(`pin ${id}`, async () => {
      await hands.ask("chat_update_session", { session_id: id, updates: { pinned: pinned !== true } });
      load(hands, hands.here);
    });
  return h(
    "li.server",
    { key: id },
    h(
      "div.what",
      {},
      h("a.name.whole", { href: hrefOf({ at: "chat", id }) }, name === "" ? "New chat" : oneLine(name)),
      excerpt === undefined ? undefined : h("p.words", {}, foreign(excerpt)),
      h("p.soft", {}, facts.filter((fact) => fact !== undefined).join(" · ")),
    ),
    button(pinned === true ? "Unpin" : "Pin", pin, { id: `pin-${id}`, class: "quiet", "aria-label": `${pinned === true ? "Unpin" : "Pin"} the chat ${name}`, busy: hands.isBusy(`pin ${id}`) }),
    button("Delete", ask, { id: `delete-${id}`, class: "quiet danger", "aria-label": `Delete the chat ${name}` }),
    deleting === id ? confirm(hands, id) : undefined,
    failure(hands, `delete ${id}`),
    failure(hands, `pin ${id}`),
  );
}

function confirm(hands: Hands, session_id: string): VNode {
  const done = () => {
    deleting = undefined;
    hands.change({});
  };
  const remove = () =>
    hands.act(`delete ${session_id}`, async () => {
      await deleteChat(hands, session_id);
      done();
      load(hands, hands.here);
    });
  const buttons = [button("Keep it", done, { id: "keep" }), button("Delete", remove, { id: "really", class: "danger", busy: hands.isBusy(`delete ${session_id}`) })];
  return notice("warn", h("p", {}, "Delete this chat with all its messages? It cannot be brought back."), h("p.buttons", {}, ...buttons));
}

/** A chat that was exported. */
function bringIn(hands: Hands): VNode {
  const change = ({ target }: Event) => {
    const input = target as HTMLInputElement;
    const file = input.files?.[0];
    input.value = "";
    if (file === undefined) return;
    hands.act("import", async () => {
      if (file.size > MOST_IMPORT) throw new CodedError("ERR_INVALID_REQUEST", `The file has ${count(file.size, "byte")}. A chat has at most 32 MiB.`);
      const { session } = await hands.ask("chat_import", { text: await file.text() });
      hands.go({ at: "chat", id: session.id }, "Imported");
    });
  };
  return h("div.import", {}, h("label.action", { for: "import-chat" }, "Import a chat…"), h("input.unseen", { id: "import-chat", type: "file", accept: ".json,application/json", on: { change } }), failure(hands, "import"));
}
