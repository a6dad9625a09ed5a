// Keys: the events, and what the browser itself does at a key, which events of a script do not cause.
//
// Owns which of that is done here: text, deleting, Enter, Tab, selecting all, scrolling. Must never press a key of the browser's own.

import { Failure } from "./failure.ts";
import { insert } from "./fields.ts";
import { charNumber, keyNumber } from "./key_numbers.ts";
import { focused, parentOf } from "./tree.ts";

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

/** Presses and releases a key, or a chord of them. */
export async function pressKey(text: string): Promise<void> {
  const { key, modifiers } = parse(text);
  const target = focused() ?? document.body;
  const init = {
    ...{ key, code: codeOf(key), bubbles: true, cancelable: true, composed: true },
    ...{ ctrlKey: modifiers.has("Control"), shiftKey: modifiers.has("Shift"), altKey: modifiers.has("Alt"), metaKey: modifiers.has("Meta") },
  };
  const numbered = (type: string, number: number, charCode = 0) => new KeyboardEvent(type, { ...init, keyCode: number, which: number, charCode });
  let goesOn = target.dispatchEvent(numbered("keydown", keyNumber(key)));
  const isPlain = !modifiers.has("Control") && !modifiers.has("Meta") && !modifiers.has("Alt");
  if (goesOn && isPlain && (key.length === 1 || key === "Enter")) goesOn = target.dispatchEvent(numbered("keypress", charNumber(key), charNumber(key)));
  if (goesOn) act(target, key, modifiers, isPlain);
  (focused() ?? target).dispatchEvent(numbered("keyup", keyNumber(key)));
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

function act(target: Element, key: string, modifiers: Set<string>, isPlain: boolean): void {
  if (!isPlain) {
    if (key.toLowerCase() === "a" && isText(target)) document.execCommand("selectAll");
    return;
  }
  if (key === "Enter") enter(target);
  else if (key === "Tab") tab(modifiers.has("Shift") ? -1 : 1);
  else if (key === "Backspace" && isText(target)) document.execCommand("delete");
  else if (key === "Delete" && isText(target)) document.execCommand("forwardDelete");
  else if (isText(target)) {
    if (key.length === 1) insert(target, key);
  } else if (key === " " && target instanceof HTMLElement && target.matches("button, input, summary, [role=button]")) target.click();
  else if (["PageDown", "PageUp", "Home", "End", "ArrowDown", "ArrowUp", " "].includes(key)) scrollByKey(target, key);
}

function enter(target: Element): void {
  if (target instanceof HTMLTextAreaElement || (target instanceof HTMLElement && target.isContentEditable)) {
    document.execCommand(target instanceof HTMLTextAreaElement ? "insertLineBreak" : "insertParagraph");
  } else if (target instanceof HTMLInputElement && isText(target)) {
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
  if (next !== undefined) next.focus();
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
