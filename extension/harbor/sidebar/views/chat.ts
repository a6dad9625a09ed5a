// A chat: the first thing that the panel shows.
//
// Owns what of a chat stands where. The bridge owns the chat: what is shown here can be closed and opened at any moment.

import { openTab, sessionStore } from "../../../shared/browser/api.ts";
import type { Fields } from "../../../shared/ports/wire.ts";
import type { ChatUsage } from "../../../shared/protocol/generated/messages.ts";
import { forgetPrompts } from "../chat/actions.ts";
import { numbered } from "../chat/attaching.ts";
import { chatMenu } from "../chat/chat_menu.ts";
import { composer, restore } from "../chat/composer.ts";
import { put } from "../chat/field.ts";
import { firstRun } from "../chat/first_run.ts";
import { conversation } from "../chat/list.ts";
import { mismatch } from "../chat/mismatch.ts";
import { PAGE_ACT } from "../chat/page_doing.ts";
import { takeAsked } from "../chat/page_asked.ts";
import { lookAtPage } from "../chat/page_open.ts";
import { standingOf } from "../chat/page_rules.ts";
import { sendWithPage, summarise } from "../chat/page_send.ts";
import { loadModels, modelMenu, modelOf, serverMenu } from "../chat/picking.ts";
import { askForms, asksAfter, heardAsk } from "../chat/server_ask.ts";
import { READ_CHAT, type Said, Talk, asEvent, isBusy } from "../chat/talk.ts";
import type { Item } from "../chat/transcript.ts";
import { waitsLine } from "../chat/waits.ts";
import { type Child, type VNode, h } from "../dom.ts";
import type { Hands, View } from "../hands.ts";
import { dollars } from "../money.ts";
import { button, failure, lines, notice, oneLine, waiting } from "../parts.ts";
import { type Route, hrefOf } from "../route.ts";
import type { Attached, Chat, Composing } from "../store.ts";

type Here = Extract<Route, { at: "chat" }>;

/** Under which name the session that was shown last is kept until the browser ends. */
export const LAST_CHAT = "chat";

export const NOT_COMPOSING: Composing = { attached: [], editing: undefined, isPrivate: false };

let talk: Talk | undefined;
/** How many earlier items the person has asked for. */
let more = 0;

const talkOf = (hands: Hands): Talk => (talk ??= new Talk(hands, (said, editing) => giveBack(hands, said, editing)));

/** What the bridge did not take is in the field again. */
function giveBack(hands: Hands, { text, attachments }: Said, editing: number | undefined): void {
  const attached = attachments.map(numbered);
  hands.change({ composing: { ...hands.state.composing, attached, editing } });
  put(text);
}

export const chat: View<Here> = {
  title: ({ chat: now }) => now?.session?.name || "Chat",
  enter(hands, { id }, signal) {
    if (hands.state.chat?.id !== id) {
      more = 0;
      hands.change({ composing: NOT_COMPOSING });
      void restore(id);
    }
    talkOf(hands).open(id, signal);
    loadModels(hands, signal);
    void lookAtPage(hands).then(() => takeAsked(hands));
    if (id !== undefined) void sessionStore.set(LAST_CHAT, id).catch(() => undefined);
  },
  heard(hands, _, type, payload: Fields) {
    if (type === "chat_event") {
      const push = asEvent(payload);
      talkOf(hands).heard(push);
      asksAfter(hands, push.session_id, push.event);
    } else if (type === "chat_ask") heardAsk(hands, payload);
    else if (type === "servers") forgetPrompts();
  },
  top: (hands) => [
    modelMenu(hands),
    h("span.space"),
    chatMenu(hands),
    h("a.glyph.new", { href: hrefOf({ at: "chat" }), id: "new-chat", "aria-label": "New chat", title: "New chat" }),
    h("a.glyph.history", { href: hrefOf({ at: "chats" }), id: "history", "aria-label": "Your chats", title: "Your chats" }),
  ],
  show(hands, { id }) {
    const now = hands.state.chat;
    if (now === undefined || now.id !== id || !now.isKnown) return [waiting("Opening the chat…"), failure(hands, READ_CHAT)];
    const isEmpty = now.items.length === 0 && now.said === undefined && now.turn === undefined;
    return [failure(hands, READ_CHAT), ...(isEmpty ? beginning(hands) : talked(hands, now)), usageLine(hands, now)];
  },
  foot: (hands) => [
    leaving(hands),
    waitsLine(hands),
    ...askForms(hands),
    mismatch(hands),
    h("div.with", {}, serverMenu(hands), privacy(hands)),
    ...composer(hands, {
      send: (text) => send(hands, text),
      stop: () => talkOf(hands).stop(),
      previous: () => lastOf(hands.state.chat)?.text,
      actions: () => [{ name: "summarise", words: "Summarise the page beside the panel", run: () => (put(""), summarise(hands, (...what) => say(hands, ...what))) }],
    }),
  ],
};

/** The connection is a new one. */
export function chatReconnected(hands: Hands): void {
  talkOf(hands).reconnected();
}

function lastOf(now: Chat | undefined): Extract<Item, { is: "person" }> | undefined {
  return now?.items.findLast((item) => item.is === "person");
}

function talked(hands: Hands, now: Chat): Child[] {
  return conversation(hands, now, more, {
    edit: ({ text, at, attachments }) => {
      const attached = attachments.map(numbered);
      hands.change({ composing: { ...hands.state.composing, editing: at, attached } });
      put(text);
    },
    retry: () => retry(hands),
    earlier: () => {
      more += 200;
      hands.change({});
    },
  });
}

/** A link whose address carries data: what a model puts there, it tells to whoever owns the address. */
function leaving(hands: Hands): Child {
  const { leaving: url } = hands.state;
  if (url === undefined) return undefined;
  const close = () => hands.change({ leaving: undefined });
  const open = () => (close(), openTab(url));
  return notice(
    "warn",
    h("p", {}, "The address of this link carries data. Its owner sees what stands in it:"),
    lines(url, "The address", 2_000),
    h("p.buttons", {}, button("Don't open", close, { id: "stay" }), button("Open it", open, { id: "open-link" })),
  );
}

/** Has the last message answered once more, in a branch: the answer that is there stays. */
function retry(hands: Hands): void {
  const last = lastOf(hands.state.chat);
  if (last?.at === undefined) return;
  talkOf(hands).branch(last.at, { text: last.text, attachments: last.attachments }, (id) => hands.go({ at: "chat", id }));
}

/** What is shown where nothing has been said. */
function beginning(hands: Hands): Child[] {
  const first = firstRun(hands);
  if (first !== undefined) return first;
  return [
    h("h2", { tabindex: "-1", id: "title" }, "What can I do here?"),
    h("p.soft", {}, "Ask anything. Tools that only read run by themselves. Everything else asks you first."),
    ["none", "never"].includes(standingOf(hands.state.page).is)
      ? undefined
      : h("p.buttons", {}, button("Summarise this page", () => summarise(hands, (...what) => say(hands, ...what)), { id: "summarise", busy: hands.isBusy(PAGE_ACT) })),
  ];
}

function privacy(hands: Hands): VNode {
  const { chat: now, composing } = hands.state;
  if (now?.session !== undefined) return now.session.private ? h("span.soft", {}, "Private: not kept") : h("span");
  const isOn = composing.isPrivate;
  const flip = () => hands.change({ composing: { ...hands.state.composing, isPrivate: !isOn } });
  return h("button.switch", { type: "button", id: "private", role: "switch", "aria-checked": String(isOn), title: "A private chat is never written to disk", on: { click: flip } }, "Private");
}

/** Tokens of the last turn, where they are known. */
function usageLine(hands: Hands, now: Chat): VNode | undefined {
  const usage = now.turn?.usage ?? now.last?.usage;
  if (usage === undefined) return undefined;
  const about = usage.exactness === "exact" ? "" : "about ";
  const cached = usage.cached_tokens > 0 ? `, ${usage.cached_tokens.toLocaleString("en")} from the cache` : "";
  const model = modelOf(hands);
  return h("p.soft.usage", { key: "usage" }, `${about}${usage.input_tokens.toLocaleString("en")} tokens in${cached} · ${usage.output_tokens.toLocaleString("en")} out${costOf(usage)}`, ...(model === undefined ? [] : [" · ", oneLine(model)]));
}

/** What a turn cost. A model on this machine is free, and that is not said each time. */
function costOf({ exactness, cost_microdollars: cost }: ChatUsage): string {
  if (cost === 0) return "";
  return cost === undefined ? " · price unknown" : ` · ${exactness === "exact" ? "" : "about "}${dollars(cost)}`;
}

/** Escape stops the turn that is under way. */
export function escapes(hands: Hands): void {
  if (isBusy(hands.state)) talkOf(hands).stop();
}

function send(hands: Hands, text: string): void {
  sendWithPage(hands, text, (...what) => say(hands, ...what));
}

function say(hands: Hands, text: string, attached: Attached[], alone: boolean): void {
  const { model, servers, isPrivate, editing } = hands.state.composing;
  hands.change({ composing: { ...NOT_COMPOSING } });
  const said = { text, attachments: attached, alone };
  const begins = (id: string) => hands.go({ at: "chat", id });
  if (editing !== undefined) talkOf(hands).branch(editing, said, begins);
  else talkOf(hands).say(said, { model, servers, isPrivate }, begins);
}
