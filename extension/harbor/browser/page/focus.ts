// The focus, with the events that it causes: a browser keeps them back in a tab that nobody uses, and pages live by them.
//
// Owns that a page is told once: by the browser, or from here. Must never move the focus for anything but an action.

import { type Field, isField } from "./roles.ts";
import { focused } from "./tree.ts";

const EVENTS = ["change", "blur", "focusout", "focus", "focusin"] as const;

/** Fields that were written into since the page was last told `change`, each with what it had before. */
const edited = new WeakMap<Field, string>();

/** A field is about to be written into. */
export function noteEdit(target: Element): void {
  if (isField(target) && !edited.has(target)) edited.set(target, target.value);
}

/** The page has been told of the field's value. */
export const noteTold = (field: Field): unknown => edited.delete(field);

/** Gives an element the focus. */
export const focusOn = (element: HTMLElement | SVGElement): void => moved(() => element.focus({ preventScroll: true }));

/** Takes the focus away from where it is. */
export function leaveFocus(): void {
  const at = focused();
  if (at instanceof HTMLElement && at !== document.body) moved(() => at.blur());
}

/** What the page moves the focus to by itself at an event: in a tab that nobody uses it would not hear of that. */
export function following(act: () => boolean): boolean {
  let goesOn = false;
  moved(() => {
    goesOn = act();
  });
  return goesOn;
}

/** An action begins: what the page did before is not told as its effect. */
export const noteFocus = (): unknown => (known = focused());

const isSomething = (element: Element | null): element is Element => element !== null && element !== document.body && element !== document.documentElement;

/** Where the focus was when the page was last told: a page may move it later, by a timer of its own. */
let known: Element | null = null;

/** Tells the page where it has moved the focus itself, as far as nobody has. */
export function catchUp(): void {
  const [before, now] = [known, focused()];
  if (before === now || document.hasFocus()) return;
  known = now;
  tellOfMove(before, now, new Set());
}

function moved(go: () => void): void {
  const before = focused();
  const heard = heardDuring(go);
  const now = focused();
  known = now;
  if (now !== before) tellOfMove(before, now, heard);
  known = focused();
}

function tellOfMove(before: Element | null, now: Element | null, heard: Set<string>): void {
  if (isSomething(before) && before.isConnected) {
    if (isField(before)) tellChange(before, heard.has("change"));
    if (!heard.has("blur")) tell(before, ["blur", "focusout"], now);
  }
  // A page may have moved it when it was told.
  if (isSomething(now) && focused() === now && !heard.has("focus")) tell(now, ["focus", "focusin"], before);
}

/** The events of the focus that the browser tells itself meanwhile. */
function heardDuring(go: () => void): Set<string> {
  const heard = new Set<string>();
  const listen = ({ type, isTrusted }: Event) => isTrusted && heard.add(type);
  for (const type of EVENTS) window.addEventListener(type, listen, true);
  try {
    go();
  } finally {
    for (const type of EVENTS) window.removeEventListener(type, listen, true);
  }
  return heard;
}

function tell(element: Element, [first, second]: [string, string], other: Element | null): void {
  const init = { composed: true, view: window, relatedTarget: other === document.body ? null : other };
  element.dispatchEvent(new FocusEvent(first, init));
  element.dispatchEvent(new FocusEvent(second, { ...init, bubbles: true }));
}

function tellChange(field: Field, isTold: boolean): void {
  const before = edited.get(field);
  edited.delete(field);
  // Firefox does that itself when it is told that the field loses the focus.
  if (__BROWSER__ === "chrome" && !isTold && before !== undefined && before !== field.value) field.dispatchEvent(new Event("change", { bubbles: true }));
}
