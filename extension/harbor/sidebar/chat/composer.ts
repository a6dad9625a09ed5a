// Where the person types: the text, what goes with it, and the button that sends or stops.
//
// Owns the draft. Enter sends, Shift+Enter begins a line, Escape stops. Must never send what the person has not sent: no key that was
// part of composing a letter does.

import { sessionStore } from "../../../shared/browser/api.ts";
import { type Child, type VNode, h } from "../dom.ts";
import type { Hands } from "../hands.ts";
import { button, failure } from "../parts.ts";
import type { Attached } from "../store.ts";
import { atKey, atList, atProps, atTyped } from "./at_list.ts";
import { attachedChip, pageChip, pageKey } from "./page_chip.ts";
import { SAY, isBusy } from "./talk.ts";

const FIELD = "say-text";

export interface Composer {
  send(text: string): void;
  stop(): void;
  /** The text of the person's last message, for the arrow key in an empty field. */
  previous(): string | undefined;
}

const draftOf = (id: string | undefined) => `draft ${id ?? "new"}`;

const field = () => document.getElementById(FIELD) as HTMLTextAreaElement | null;

/** What is typed so far. */
export function typed(): string {
  return field()?.value ?? "";
}

/** Puts a text into the field, where the person goes on. */
export function put(text: string): void {
  const found = field();
  if (found === null) return;
  found.value = text;
  found.focus();
  found.setSelectionRange(text.length, text.length);
}

/** Brings back what was typed into this chat and never sent. */
export async function restore(id: string | undefined): Promise<void> {
  const before = typed();
  const kept = await sessionStore.get(draftOf(id)).catch(() => undefined);
  const found = field();
  // What the person has typed meanwhile stays.
  if (found !== null && found.value === before) found.value = typeof kept === "string" ? kept : "";
}

function keep(id: string | undefined, text: string): void {
  void sessionStore.set(draftOf(id), text).catch(() => undefined);
}

export function composer(hands: Hands, doing: Composer): Child[] {
  const { chat, composing } = hands.state;
  const busy = isBusy(hands.state);
  const send = () => {
    const text = typed();
    if (busy || (text.trim() === "" && composing.attached.length === 0)) return;
    const found = field();
    if (found !== null) found.value = "";
    keep(chat?.id, "");
    doing.send(text);
  };
  const key = (event: Event) => {
    if (atKey(hands, event) || pageKey(hands, event)) return;
    const { key: name, shiftKey, isComposing } = event as KeyboardEvent;
    if (name === "Enter" && !shiftKey && !isComposing) {
      event.preventDefault();
      send();
    } else if (name === "Escape" && busy) doing.stop();
    else if (name === "ArrowUp" && typed() === "") {
      const before = doing.previous();
      if (before !== undefined) event.preventDefault(), put(before);
    }
  };
  const input = () => {
    keep(chat?.id, typed());
    atTyped(hands);
  };
  const props = { id: FIELD, rows: 1, placeholder: "Ask, or type / for actions", "aria-label": "Your message", autocomplete: "off", ...atProps(hands) };
  return [
    failure(hands, SAY),
    // Each in a place of its own: what comes and goes there moves nothing, least of all the field.
    h("div", { key: "page place" }, ...pageChip(hands)),
    h("div", { key: "at place" }, ...atList(hands)),
    composing.editing === undefined ? undefined : h("p.soft", {}, "Editing: your new message begins a branch. "),
    composing.attached.length === 0 ? undefined : h("ul.chips", { "aria-label": "Goes with your message" }, ...composing.attached.map((one) => chip(hands, one))),
    h(
      "div.say",
      {},
      h("textarea", { ...props, key: "field", on: { keydown: key, input } }),
      busy
        ? button("Stop", doing.stop, { id: "stop", key: "stop", class: "glyph stop", "aria-label": "Stop (Escape)" })
        : button("Send", send, { id: "send", key: "send", class: "glyph send primary", "aria-label": "Send (Enter)" }),
    ),
  ];
}

function chip(hands: Hands, one: Attached): VNode {
  const remove = () => {
    const { composing } = hands.state;
    hands.change({ composing: { ...composing, attached: composing.attached.filter(({ id }) => id !== one.id) } });
  };
  return attachedChip(one, remove);
}
