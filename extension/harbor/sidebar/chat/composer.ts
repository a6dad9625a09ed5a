// Where the person types: the text, what goes with it, and the button that sends or stops.
//
// Owns the draft. Enter sends, Shift+Enter begins a line, Escape stops. Must never send what the person has not sent: no key that was
// part of composing a letter does.

import { sessionStore } from "../../../shared/browser/api.ts";
import { type Child, type VNode, h } from "../dom.ts";
import type { Hands } from "../hands.ts";
import { button, failure } from "../parts.ts";
import type { Attached } from "../store.ts";
import type { Action } from "./actions.ts";
import { ATTACH, FILES, attach } from "./attaching.ts";
import { FIELD, field, put, typed } from "./field.ts";
import { PAGE_ACT } from "./page_doing.ts";
import { promptForm } from "./prompt_form.ts";
import { matching, slashMenu } from "./slash.ts";
import { atKey, atList, atProps, atTyped } from "./at_list.ts";
import { attachedChip, pageChip, pageKey } from "./page_chip.ts";
import { SAY, isBusy } from "./talk.ts";

export interface Composer {
  send(text: string): void;
  stop(): void;
  /** The text of the person's last message, for the arrow key in an empty field. */
  previous(): string | undefined;
  /** Further actions by `/`. */
  actions?(): Action[];
}

const draftOf = (id: string | undefined) => `draft ${id ?? "new"}`;

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
    if (matching(hands, doing, typed()).key(event as KeyboardEvent)) return;
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
    // What stands above the field follows what is typed.
    hands.change({});
    atTyped(hands);
  };
  const paste = (event: Event) => {
    const files = (event as ClipboardEvent).clipboardData?.files ?? [];
    if (files.length > 0) event.preventDefault(), attach(hands, files);
  };
  const edited = () => hands.change({ composing: { ...hands.state.composing, editing: undefined } });
  const props = { id: FIELD, rows: 1, placeholder: "Ask, or type / for actions", "aria-label": "Your message", autocomplete: "off", ...atProps(hands) };
  return [
    failure(hands, SAY),
    failure(hands, ATTACH),
    failure(hands, PAGE_ACT),
    // Each in a place of its own: what comes and goes there moves nothing, least of all the field.
    h("div", { key: "page place" }, ...pageChip(hands)),
    h("div", { key: "at place" }, ...atList(hands)),
    h("div", { key: "slash place" }, slashMenu(hands, doing, typed())),
    h("div", { key: "prompt place" }, ...promptForm(hands)),
    composing.editing === undefined ? undefined : h("p.soft", {}, "Your message begins a branch. What is there stays. ", button("Cancel", edited, { id: "not-editing", class: "quiet" })),
    composing.attached.length === 0 ? undefined : h("ul.chips", { "aria-label": "Goes with your message" }, ...composing.attached.map((one) => chip(hands, one))),
    h(
      "div.say",
      {},
      ...attachButton(hands),
      h("textarea", { ...props, key: "field", on: { keydown: key, input, paste } }),
      busy
        ? button("Stop", doing.stop, { id: "stop", key: "stop", class: "glyph stop", "aria-label": "Stop (Escape)" })
        : button("Send", send, { id: "send", key: "send", class: "glyph send primary", "aria-label": "Send (Enter)" }),
    ),
  ];
}

function attachButton(hands: Hands): Child[] {
  const change = ({ target }: Event) => {
    const input = target as HTMLInputElement;
    attach(hands, [...(input.files ?? [])]);
    input.value = "";
  };
  return [
    h("label.glyph.clip", { for: FILES, title: "Attach files", key: "clip" }, h("span.unseen", {}, "Attach files")),
    h("input.unseen", { id: FILES, type: "file", multiple: true, key: "attach", on: { change } }),
  ];
}

function chip(hands: Hands, one: Attached): VNode {
  const remove = () => {
    const { composing } = hands.state;
    hands.change({ composing: { ...composing, attached: composing.attached.filter(({ id }) => id !== one.id) } });
  };
  return attachedChip(one, remove);
}
