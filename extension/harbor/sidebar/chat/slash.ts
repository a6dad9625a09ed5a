// Actions by their names: what a person types behind `/`.
//
// Owns the list and how it is walked. An action runs when it is chosen. A text that is no action's name is a message like any other.

import { type Child, h } from "../dom.ts";
import type { Hands } from "../hands.ts";
import { oneLine } from "../parts.ts";
import { type Action, actionsOf } from "./actions.ts";
import type { Composer } from "./composer.ts";

/** So many are listed. */
const MOST = 12;

/** Which of the actions is marked. */
let at = 0;

interface Matching {
  found: Action[];
  /** Takes a key for the list; true if it was one. */
  key(event: KeyboardEvent): boolean;
}

/** The actions whose names begin with what is typed. */
export function matching(hands: Hands, doing: Composer, typed: string): Matching {
  const [, word] = /^\/([\w.-]*)$/.exec(typed) ?? [];
  const found = word === undefined ? [] : actionsOf(hands, doing).filter(({ name }) => name.startsWith(word.toLowerCase())).slice(0, MOST);
  if (at >= found.length) at = 0;
  const key = (event: KeyboardEvent): boolean => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (found.length === 0 || (step === undefined && event.key !== "Enter" && event.key !== "Tab")) return false;
    event.preventDefault();
    if (step === undefined) found[at]?.run();
    else at = (at + step + found.length) % found.length;
    hands.change({});
    return true;
  };
  return { found, key };
}

/** The list above the field. */
export function slashMenu(hands: Hands, doing: Composer, typed: string): Child {
  const { found } = matching(hands, doing, typed);
  if (found.length === 0) return undefined;
  const row = ({ name, words, run }: Action, index: number) =>
    h("li", { key: name, role: "option", "aria-selected": String(index === at) }, h("button.option", { type: "button", "aria-pressed": String(index === at), on: { click: run } }, h("span.mono", {}, "/", oneLine(name)), h("span.soft", {}, oneLine(words))));
  return h("ul.options.slash", { role: "listbox", "aria-label": "Actions", key: "slash" }, ...found.map(row));
}
