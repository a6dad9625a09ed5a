// Where calls of several chats wait for a yes: how many there are elsewhere, and the way from one to the next.
//
// Owns which of them the person goes to. Must never answer one: the focus comes to the question itself, and to none of its buttons.

import type { Approval } from "../../../shared/protocol/generated/messages.ts";
import { type Child, h } from "../dom.ts";
import type { Hands } from "../hands.ts";
import { button } from "../parts.ts";

/** The question on the way to which the person is: its chat is being opened. */
let wanted: string | undefined;

/** The questions of all chats, as the bridge lists them. */
function waiting({ state }: Hands): Approval[] {
  return (state.approvals?.open ?? []).filter((one) => one.state === "waiting" && one.session_id !== undefined);
}

const isHere = ({ state }: Hands, { session_id }: Approval): boolean => session_id === state.chat?.id;

/** The line above the field, where there is one elsewhere. */
export function waitsLine(hands: Hands): Child {
  // Once it is drawn it can have the focus.
  if (wanted !== undefined) queueMicrotask(() => arrive());
  const all = waiting(hands);
  const elsewhere = all.filter((one) => !isHere(hands, one)).length;
  if (elsewhere === 0) return undefined;
  const words = elsewhere === 1 ? "A call in another chat waits for your yes." : `${elsewhere} calls in other chats wait for your yes.`;
  const next = () => toNext(hands, all.find((one) => isHere(hands, one))?.id, 1);
  return h("p.page-work", { key: "waits" }, h("span", { role: "status" }, words), button("Next", next, { id: "next-question", class: "quiet", title: "Alt+↓", "aria-keyshortcuts": "Alt+ArrowDown" }));
}

/** Takes a key that leads from one to the next, the one in this chat first; false: it means what it always means. */
export function waitsKey(hands: Hands, { key, altKey, target }: KeyboardEvent): boolean {
  const step = { ArrowDown: 1, ArrowUp: -1 }[key];
  if (step === undefined || !altKey || (target as Element).localName === "select") return false;
  return toNext(hands, focused(), step);
}

/** The question in which the focus is. */
const focused = (): string | undefined => document.activeElement?.closest<HTMLElement>("[data-question]")?.dataset["question"];

function toNext(hands: Hands, from: string | undefined, step: number): boolean {
  const all = waiting(hands);
  const at = all.findIndex(({ id }) => id === from);
  const first = all.find((one) => isHere(hands, one)) ?? all[0];
  const next = at < 0 ? first : all[(at + step + all.length) % all.length];
  if (next?.session_id === undefined) return false;
  wanted = next.id;
  if (isHere(hands, next)) arrive();
  else hands.go({ at: "chat", id: next.session_id });
  return true;
}

function arrive(): void {
  const card = wanted === undefined ? null : document.querySelector<HTMLElement>(`[data-question="${CSS.escape(wanted)}"]`);
  if (card === null) return;
  wanted = undefined;
  card.scrollIntoView({ block: "nearest" });
  card.focus({ preventScroll: true });
}
