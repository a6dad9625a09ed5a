// The conversation as elements: what the person said, what the model wrote, its steps, and how it ended.
//
// Owns that what has not changed is not described again. Must never make anything of a model's text but text nodes.

import { openTab } from "../../../shared/browser/api.ts";
import { type Child, type VNode, h } from "../dom.ts";
import type { Hands } from "../hands.ts";
import { button, copyButton, failureNotice, foreign, lines, notice } from "../parts.ts";
import type { Chat } from "../store.ts";
import { changesIn, freeWords } from "./free.ts";
import { Highlighting } from "./highlighting.ts";
import { type MarkdownOptions, MarkdownView } from "./markdown.ts";
import { stepLine } from "./step.ts";
import { type Attachment, type Item, endedWords } from "./transcript.ts";

/** So many of the newest items are elements; earlier ones come when the person asks for them. */
const SHOWN = 200;

const highlighting = new Highlighting();

/** The answers of one chat, by their places. */
let drawn: { id: string | undefined; answers: Map<number, MarkdownView> } = { id: undefined, answers: new Map() };

/** What a person does with a message. */
export interface Doing {
  edit(item: Extract<Item, { is: "person" }>): void;
  retry(): void;
  earlier(): void;
}

/** All that is shown of a chat. `more`: how many items beyond the newest the person has asked for. */
export function conversation(hands: Hands, chat: Chat, more: number, doing: Doing): Child[] {
  if (drawn.id !== chat.id) drawn = { id: chat.id, answers: new Map() };
  const items = [...chat.items, ...(chat.said === undefined ? [] : [chat.said]), ...(chat.turn?.items ?? []), ...(chat.last?.items ?? [])];
  const first = Math.max(0, items.length - SHOWN - more);
  const busy = chat.said !== undefined || (chat.turn !== undefined && !chat.turn.over);
  const last = items.findLastIndex(({ is }) => is !== "note");
  return [
    first === 0 ? undefined : button(`Show ${Math.min(first, SHOWN)} earlier`, doing.earlier, { id: "earlier", class: "quiet" }),
    h("ol.conversation", {}, ...items.slice(first).map((item, at) => h("li", { key: String(first + at), class: item.is }, ...shown(hands, item, first + at, doing, busy, first + at === last)))),
    busy ? waits(chat) : undefined,
  ];
}

function waits({ turn, isStopping }: Chat): VNode {
  const words = isStopping ? "Stopping…" : turn?.items.at(-1)?.is === "answer" ? "" : "Thinking…";
  return h("p.soft.under-way", { key: "under-way" }, words);
}

function shown(hands: Hands, item: Item, at: number, doing: Doing, busy: boolean, isLast: boolean): Child[] {
  switch (item.is) {
    case "person":
      return person(hands, item, doing, busy);
    case "answer":
      return answer(hands, item, at, isLast && !busy ? doing.retry : undefined);
    case "thoughts":
      return [h("details.thoughts", {}, h("summary", {}, item.writing ? "Thinking…" : "Thoughts"), lines(item.text, "Thoughts", 20_000))];
    case "step":
      return [stepLine(hands, item)];
    case "note":
      return [notice("warn", h("p", {}, foreign(item.text)))];
    case "ended":
      return [h("p.soft", {}, endedWords(item.code), isLast ? again(doing) : undefined)];
    case "error":
      return [failureNotice({ code: item.code, message: item.message }), ...(isLast ? [free(hands), again(doing)] : [])];
  }
}

function person(hands: Hands, item: Extract<Item, { is: "person" }>, doing: Doing, busy: boolean): Child[] {
  return [
    ...item.attachments.map(attachment),
    item.text === "" ? undefined : h("p.text", { dir: "auto" }, item.text),
    h(
      "div.tools",
      {},
      copyButton(() => item.text, "Copy your message", hands),
      item.at === undefined || busy ? undefined : button("Edit", () => doing.edit(item), { class: "quiet", "aria-label": "Edit your message in a new branch" }),
    ),
  ];
}

function attachment(one: Attachment): VNode {
  if (one.is === "image") return h("figure.attachment", {}, h("img", { src: one.url, alt: one.title }));
  return h("details.attachment", {}, h("summary", {}, foreign(one.title)), lines(one.text ?? "", `What the model got of ${one.title}`, Infinity));
}

function answer(hands: Hands, item: Extract<Item, { is: "answer" }>, at: number, retry: (() => void) | undefined): Child[] {
  const again = retry === undefined ? undefined : button("Retry", retry, { class: "quiet", "aria-label": "Retry: answer once more, in a branch" });
  const view = drawn.answers.get(at) ?? new MarkdownView(optionsOf(hands));
  drawn.answers.set(at, view);
  return [h("div.markdown", { dir: "auto" }, ...view.show(item.text, item.writing)), item.writing ? undefined : h("div.tools", {}, copyButton(() => item.text, "Copy the answer", hands), again)];
}

function optionsOf(hands: Hands): MarkdownOptions {
  return {
    openLink: (url, carriesData) => (carriesData ? hands.change({ leaving: url }) : openTab(url)),
    say: (words) => hands.say(words),
    refresh: () => hands.change({}),
    highlighting,
  };
}

let due: ReturnType<typeof setTimeout> | undefined;

/** How long the provider takes nothing, counted down. */
function free(hands: Hands): Child {
  clearTimeout(due);
  const at = hands.state.chat?.free;
  if (at === undefined) return undefined;
  const now = Date.now();
  const left = changesIn(at, now);
  if (left !== undefined) due = setTimeout(() => hands.change({}), left);
  return h("p.soft", { key: "free", role: "timer" }, freeWords(at, now));
}

const again = ({ retry }: Doing): VNode => button("Try again", retry, { class: "quiet", key: "again" });
