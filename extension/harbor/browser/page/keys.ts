// Keys: the events, and what the browser itself does at a key, which events of a script do not cause.
//
// Owns which of that is done here: text, deleting, Enter, Tab, Escape, selecting all, scrolling, and what `key_acts.ts` has. Must never
// press a key of the browser's own, or touch the clipboard.

import { Failure } from "./failure.ts";
import { focusOn, following, noteEdit, noteTold } from "./focus.ts";
import { moveBy } from "./key_acts.ts";
import { charNumber, keyNumber } from "./key_numbers.ts";
import { isField } from "./roles.ts";
import { focused, parentOf } from "./tree.ts";
import { insert, newLine, remove } from "./typing.ts";

const CODES: { [key: string]: string } = { " ": "Space", Enter: "Enter", Tab: "Tab", Escape: "Escape", Backspace: "Backspace", Delete: "Delete" };

interface Chord {
  key: string;
  modifiers: Set<string>;
}

/** `Enter`, `a`, `Control+A`, `Shift+Tab`. */
function parse(text: string): Chord {
  const parts = text.length > 1 && text !== "+" ? text.split("+") : [text];
  const key = parts.pop() ?? "";
  const modifiers = new Set(parts.map((part) => (part === "ControlOrMeta" ? "Control" : part)));
  for (const modifier of modifiers) if (!["Control", "Shift", "Alt", "Meta"].includes(modifier)) throw new Failure("invalid", `there is no modifier ${JSON.stringify(modifier)}`);
  if (key === "") throw new Failure("invalid", `${JSON.stringify(text)} is not a key`);
  return { key: key === "Space" ? " " : key, modifiers };
}

/** Presses and releases a key, or a chord of them; false where the browser itself would do more at it than is done here. */
export async function pressKey(text: string): Promise<boolean> {
  const { key, modifiers } = parse(text);
  const target = focused() ?? document.body;
  const init = {
    ...{ key, code: codeOf(key), bubbles: true, cancelable: true, composed: true },
    ...{ ctrlKey: modifiers.has("Control"), shiftKey: modifiers.has("Shift"), altKey: modifiers.has("Alt"), metaKey: modifiers.has("Meta") },
  };
  const numbered = (type: string, number: number, charCode = 0) => new KeyboardEvent(type, { ...init, keyCode: number, which: number, charCode });
  let goesOn = following(() => target.dispatchEvent(numbered("keydown", keyNumber(key))));
  const isPlain = !modifiers.has("Control") && !modifiers.has("Meta") && !modifiers.has("Alt");
  if (goesOn && isPlain && (key.length === 1 || key === "Enter")) goesOn = target.dispatchEvent(numbered("keypress", charNumber(key), charNumber(key)));
  const isWhole = !goesOn || (await act(target, key, modifiers, isPlain));
  (focused() ?? target).dispatchEvent(numbered("keyup", keyNumber(key)));
  return isWhole;
}

function codeOf(key: string): string {
  if (/^[a-z]$/i.test(key)) return `Key${key.toUpperCase()}`;
  if (/^\d$/.test(key)) return `Digit${key}`;
  return CODES[key] ?? key;
}

const isText = (element: Element): element is HTMLElement =>
  element instanceof HTMLTextAreaElement ||
  (element instanceof HTMLInputElement && !["checkbox", "radio", "button", "submit", "reset", "file", "image", "range", "color"].includes(element.type)) ||
  (element instanceof HTMLElement && element.isContentEditable);

/** True if it was done, or the browser would do nothing. */
async function act(target: Element, key: string, modifiers: Set<string>, isPlain: boolean): Promise<boolean> {
  const control = modifiers.has("Control") || modifiers.has("Meta");
  if (!modifiers.has("Alt") && moveBy(target, key, { shift: modifiers.has("Shift"), control })) return true;
  if (!isPlain) return control && command(target, key.toLowerCase(), modifiers.has("Shift"));
  if (key === "Enter") await enter(target);
  else if (key === "Tab") tab(modifiers.has("Shift") ? -1 : 1);
  else if (key === "Escape") escape();
  else if ((key === "Backspace" || key === "Delete") && isText(target)) await removeBy(target, key, false);
  else if (isText(target) && key.length === 1) await insert(target, key);
  else if (key === " " && target instanceof HTMLElement && target.matches("button, input, summary, [role=button]")) target.click();
  else if (["PageDown", "PageUp", "Home", "End", "ArrowDown", "ArrowUp", " "].includes(key) && !isText(target)) scrollByKey(target, key);
  else return key.length === 1 || /^(Backspace|Delete|Shift|Control|Alt|Meta|Arrow.*|Home|End|Page.*)$/.test(key);
  return true;
}

/** With Control: what browsers do in texts. What is on the clipboard is the person's. */
async function command(target: Element, key: string, shift: boolean): Promise<boolean> {
  if (key === "a") return isField(target) && isText(target) ? ((target as unknown as HTMLInputElement).select(), true) : document.execCommand("selectAll");
  if (!isText(target)) return false;
  if (key === "z" || key === "y") return document.execCommand(key === "y" || shift ? "redo" : "undo");
  if (key === "backspace" || key === "delete") return removeBy(target, key === "delete" ? "Delete" : "Backspace", true);
  const styles: { [key: string]: string } = { b: "bold", i: "italic", u: "underline" };
  const style = styles[key];
  return style !== undefined && !isField(target) && document.execCommand(style);
}

/** Deletes what is selected, or the letter or word beside the caret. */
async function removeBy(target: HTMLElement, key: "Backspace" | "Delete", byWord: boolean): Promise<true> {
  if (byWord && (!isField(target) || isCollapsed(target as HTMLInputElement))) moveBy(target, key === "Delete" ? "ArrowRight" : "ArrowLeft", { shift: true, control: true });
  await remove(target, key === "Delete" ? "Forward" : "Backward");
  return true;
}

const isCollapsed = ({ selectionStart, selectionEnd }: HTMLInputElement): boolean => selectionStart === selectionEnd;

/** Closes what lies on top. */
function escape(): void {
  const dialog = [...document.querySelectorAll<HTMLDialogElement>("dialog:modal")].at(-1);
  if (dialog !== undefined && dialog.dispatchEvent(new Event("cancel", { cancelable: true }))) dialog.close();
  if (dialog === undefined) [...document.querySelectorAll<HTMLElement>(':popover-open:not([popover="manual"])')].at(-1)?.hidePopover();
}

async function enter(target: Element): Promise<void> {
  if (target instanceof HTMLTextAreaElement) {
    noteEdit(target);
    document.execCommand("insertLineBreak");
  } else if (target instanceof HTMLElement && target.isContentEditable) {
    await newLine(target);
  } else if (target instanceof HTMLInputElement && isText(target)) {
    noteTold(target);
    target.dispatchEvent(new Event("change", { bubbles: true }));
    const { form } = target;
    if (form === null) return;
    const button = form.querySelector<HTMLElement>('button:not([type]), button[type="submit"], input[type="submit"], input[type="image"]');
    if (button === null) form.requestSubmit();
    else if (!button.matches(":disabled")) button.click();
  } else if (target instanceof HTMLElement && target.matches("a[href], button, summary, input")) target.click();
}

function tab(step: 1 | -1): void {
  const all = [...document.querySelectorAll<HTMLElement>("a[href], button, input, select, textarea, summary, iframe, [tabindex], [contenteditable]")];
  const stops = all.filter((element) => element.tabIndex >= 0 && !element.matches(":disabled") && element.checkVisibility({ visibilityProperty: true }));
  const at = stops.indexOf(document.activeElement as HTMLElement);
  const next = stops[at === -1 && step === -1 ? stops.length - 1 : at + step];
  if (next !== undefined) focusOn(next);
}

function scrollByKey(target: Element, key: string): void {
  let place: Element = document.scrollingElement ?? document.documentElement;
  for (let at: Element | null = target; at !== null; at = parentOf(at)) {
    if (at.scrollHeight > at.clientHeight && /auto|scroll/.test(getComputedStyle(at).overflowY)) {
      place = at;
      break;
    }
  }
  const page = place.clientHeight * 0.9;
  const steps: { [key: string]: number } = { PageDown: page, " ": page, PageUp: -page, ArrowDown: 40, ArrowUp: -40, Home: -place.scrollHeight, End: place.scrollHeight };
  place.scrollBy({ top: steps[key] ?? 0, behavior: "instant" });
}
