// What is done with a whole chat: its name, its branches, taking it along, deleting it.
//
// Owns this menu. What is taken along is a file of the person's; the panel sends it nowhere.

import { saveFile } from "../../../shared/browser/files.ts";
import { type Child, type VNode, h } from "../dom.ts";
import type { Hands } from "../hands.ts";
import { button, failure, oneLine } from "../parts.ts";
import { hrefOf } from "../route.ts";
import type { Chat } from "../store.ts";
import { timeWords } from "../words.ts";

const ACT = "chat menu";

/** Whether the person is asked about deleting it. */
let deleting = false;

export function chatMenu(hands: Hands): Child {
  const { chat } = hands.state;
  if (chat?.session === undefined) return undefined;
  const { id, name } = chat.session;
  return h(
    "details.menu",
    { id: "chat-menu", key: id },
    h("summary.glyph.dots", { "aria-label": "This chat", title: "This chat" }),
    h(
      "div.sheet",
      {},
      rename(hands, id, name),
      ...branches(chat),
      h("p.buttons", {}, exporting(hands, id, name, "markdown"), exporting(hands, id, name, "json")),
      h("a", { href: `sidebar.html${hrefOf({ at: "chat", id })}`, target: "_blank", id: "in-a-tab" }, "Open in a tab"),
      deletion(hands, id),
      failure(hands, ACT),
    ),
  );
}

function rename(hands: Hands, session_id: string, name: string): VNode {
  const save = (event: Event) => {
    event.preventDefault();
    const to = (document.getElementById("chat-name") as HTMLInputElement).value.trim();
    hands.act(ACT, async () => {
      const { session } = await hands.ask("chat_update_session", { session_id, updates: { name: to } });
      const { chat } = hands.state;
      if (chat?.id === session_id) hands.change({ chat: { ...chat, session } });
      hands.say("Renamed");
    });
  };
  return h(
    "form.inline",
    { on: { submit: save } },
    h("label.unseen", { for: "chat-name" }, "Name"),
    h("input", { id: "chat-name", value: name, maxlength: 200, autocomplete: "off" }),
    h("button", { type: "submit" }, "Rename"),
  );
}

/** The other sessions of its family; each has what was said up to its first own message. */
function branches({ id, branches: family }: Chat): Child[] {
  if (family.length < 2) return [];
  const row = ({ id: one, name, updatedAt, branchAt }: Chat["branches"][number]) => {
    const words = [oneLine(name === "" ? "New chat" : name), h("span.soft", {}, ` · ${branchAt === undefined ? "the first" : `from message ${branchAt + 1}`} · ${timeWords(updatedAt)}`)];
    return h("li", { key: one }, one === id ? h("strong", {}, ...words) : h("a", { href: hrefOf({ at: "chat", id: one }) }, ...words));
  };
  return [h("h4", {}, "Branches"), h("ul.links", { id: "branches" }, ...family.map(row))];
}

function exporting(hands: Hands, session_id: string, name: string, format: "markdown" | "json"): VNode {
  const [words, ending, type] = format === "markdown" ? ["Save as Markdown", "md", "text/markdown"] : ["Save as JSON", "json", "application/json"];
  const save = () =>
    hands.act(ACT, async () => {
      const { text } = await hands.ask("chat_export", { session_id, format });
      saveFile(`${name.replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60) || "chat"}.${ending}`, type ?? "", text);
    });
  return button(words ?? "", save, { id: `export-${format}`, class: "quiet", busy: hands.isBusy(ACT) });
}

function deletion(hands: Hands, id: string): VNode {
  const ask = (now: boolean) => () => {
    deleting = now;
    hands.change({});
  };
  const remove = () =>
    hands.act(ACT, async () => {
      deleting = false;
      await deleteChat(hands, id);
      hands.go({ at: "chat" }, "Deleted");
    });
  if (!deleting) return button("Delete this chat…", ask(true), { id: "delete-chat", class: "quiet danger" });
  return h("div", {}, h("p", {}, "It cannot be brought back."), h("p.buttons", {}, button("Keep it", ask(false)), button("Delete", remove, { id: "really-delete", class: "danger", busy: hands.isBusy(ACT) })));
}

/** Deletes a chat, wherever it is shown. */
export async function deleteChat(hands: Hands, session_id: string): Promise<void> {
  await hands.ask("chat_delete_session", { session_id });
  if (hands.state.chat?.id === session_id) hands.change({ chat: undefined });
  hands.say("Deleted");
}
