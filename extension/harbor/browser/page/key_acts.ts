// What a browser itself does at a key in a field, which events of a script do not cause: the caret, a value, a choice.
//
// Owns keys that write nothing. Must never change a field that takes no input.

import { caretAfter } from "./caret.ts";
import { focusOn } from "./focus.ts";
import { isField } from "./roles.ts";
import { tellOf } from "./typing.ts";

export interface Held {
  shift: boolean;
  /** Control, or the key that is it elsewhere. */
  control: boolean;
}

const MOVES = new Set(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp", "PageDown"]);

/** Does it, where there is something to do; else false. */
export function moveBy(target: Element, key: string, held: Held): boolean {
  if (!MOVES.has(key)) return false;
  if (isField(target) && (target.matches(":disabled") || ("readOnly" in target && target.readOnly && target.type === "number"))) return false;
  if (target instanceof HTMLSelectElement) return choose(target, key);
  if (target instanceof HTMLInputElement && target.type === "radio") return another(target, key);
  if (target instanceof HTMLInputElement && (target.type === "range" || (target.type === "number" && /^Arrow(Up|Down)$/.test(key)))) return step(target, key);
  if (target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement) return caretInField(target, key, held);
  return target instanceof HTMLElement && target.isContentEditable && caretInEditor(key, held);
}

function told(field: HTMLInputElement | HTMLSelectElement): true {
  field.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
  tellOf(field);
  return true;
}

/** The next option that can be chosen. */
function choose(select: HTMLSelectElement, key: string): boolean {
  const { options, selectedIndex } = select;
  const free = [...options].flatMap((option, index) => (isDisabled(option) || option.hidden ? [] : [index]));
  const before = free.filter((index) => index < selectedIndex).at(-1);
  const after = free.find((index) => index > selectedIndex);
  const ways: { [key: string]: number | undefined } = { ArrowUp: before, ArrowLeft: before, ArrowDown: after, ArrowRight: after, Home: free[0], PageUp: free[0], End: free.at(-1), PageDown: free.at(-1) };
  const next = ways[key];
  if (next === undefined || next === selectedIndex) return true;
  select.selectedIndex = next;
  return told(select);
}

export const isDisabled = (option: HTMLOptionElement): boolean => option.disabled || (option.parentElement instanceof HTMLOptGroupElement && option.parentElement.disabled);

/** The next of a group, which gets the focus and is chosen. */
function another(radio: HTMLInputElement, key: string): boolean {
  const steps: { [key: string]: number } = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 };
  const by = steps[key];
  if (by === undefined) return false;
  const root = radio.getRootNode() as Document | ShadowRoot;
  const all = [...root.querySelectorAll<HTMLInputElement>("input[type=radio]")].filter((one) => one.name === radio.name && one.form === radio.form && !one.matches(":disabled"));
  const next = all[(all.indexOf(radio) + by + all.length) % all.length];
  if (next === undefined || next === radio) return true;
  focusOn(next);
  next.click();
  return true;
}

function step(field: HTMLInputElement, key: string): boolean {
  const before = field.value;
  const [least, most] = [Number(field.min || 0), Number(field.max || 100)];
  const one = field.step === "any" ? (most - least) / 100 : Number(field.step || 1);
  const isTurned = getComputedStyle(field).direction === "rtl" && /^Arrow(Left|Right)$/.test(key);
  const large = Math.max(one, (most - least) / 10);
  const ways: { [key: string]: number } = { ArrowUp: one, ArrowRight: isTurned ? -one : one, ArrowDown: -one, ArrowLeft: isTurned ? one : -one, PageUp: large, PageDown: -large, Home: -Infinity, End: Infinity };
  const by = ways[key] ?? 0;
  if (field.type === "number" && field.step !== "any") by > 0 ? field.stepUp() : field.stepDown();
  else field.valueAsNumber = Math.min(most, Math.max(least, (Number.isNaN(field.valueAsNumber) ? least : field.valueAsNumber) + by));
  return field.value === before ? true : told(field);
}

function caretInField(field: HTMLInputElement | HTMLTextAreaElement, key: string, { shift, control }: Held): boolean {
  const { selectionStart: start, selectionEnd: end, selectionDirection } = field;
  // Some fields do not say where their caret is.
  if (start === null || end === null) return false;
  const isBack = selectionDirection === "backward";
  const [anchor, moving] = isBack ? [end, start] : [start, end];
  const isJump = !shift && start !== end && /^Arrow(Left|Right)$/.test(key);
  const to = isJump ? (key === "ArrowLeft" ? start : end) : caretAfter(field.value, moving, key, { byWord: control, isWhole: control });
  if (to === undefined) return false;
  if (shift) field.setSelectionRange(Math.min(anchor, to), Math.max(anchor, to), to < anchor ? "backward" : "forward");
  else field.setSelectionRange(to, to);
  return true;
}

const DIRECTIONS: { [key: string]: string } = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "backward", ArrowDown: "forward", Home: "backward", End: "forward" };

function caretInEditor(key: string, { shift, control }: Held): boolean {
  const direction = DIRECTIONS[key];
  const selection = document.getSelection();
  if (direction === undefined || selection === null) return false;
  const isEdge = key === "Home" || key === "End";
  const isVertical = key === "ArrowUp" || key === "ArrowDown";
  const granularity = isEdge ? (control ? "documentboundary" : "lineboundary") : isVertical ? "line" : control ? "word" : "character";
  selection.modify(shift ? "extend" : "move", direction, granularity);
  return true;
}
