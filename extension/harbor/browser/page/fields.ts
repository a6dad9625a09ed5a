// Fields: typing, choosing, ticking, and reading back what stands there afterwards.
//
// Owns that the answer says what the field has, not what was wanted. Must never repeat what stands in a secret field.

import { pause } from "../../../shared/browser/content.ts";
import { type Change, changing } from "./change.ts";
import { Failure } from "./failure.ts";
import { pressKey } from "./keys.ts";
import { click, named, pointAt } from "./pointer.ts";
import { isField, isSecret } from "./roles.ts";
import { noteTyped } from "./secrets.ts";

export interface Typing {
  text: string;
  submit: boolean;
  /** Key by key, for pages that listen to keys. */
  slowly: boolean;
  /** Whether what stands there goes first; else the text is added. */
  replace: boolean;
  /** The text is a secret of the person's, which they keep for this origin. */
  site?: string | undefined;
}

/** Types into a field or an editor, and says what stands there then. */
export async function type(element: Element, typing: Typing): Promise<Change> {
  const target = editable(element);
  if (typing.site !== undefined) noteTyped(target, typing.text, typing.site);
  await pointAt(target);
  const change = await changing(async () => {
    target.focus({ preventScroll: true });
    if (typing.replace) selectAll(target);
    if (typing.slowly) for (const key of typing.text) await pressKey(key);
    else insert(target, typing.text);
    await pause(20);
  });
  const lines = [...readBack(target, typing), ...change.lines];
  if (!typing.submit) return { ...change, lines };
  const sent = await changing(() => pressKey("Enter").then(() => undefined));
  return { ...sent, lines: [...lines, "Enter was pressed", ...sent.lines] };
}

function editable(element: Element): HTMLElement {
  if (element instanceof HTMLInputElement && ["checkbox", "radio", "button", "submit", "reset", "image", "hidden"].includes(element.type)) {
    throw new Failure("invalid", `${named(element)} is not a text field: use browser_click`);
  }
  if (element instanceof HTMLInputElement && element.type === "file") throw new Failure("invalid", `${named(element)} takes a file, not text`);
  const isText = element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement || (element instanceof HTMLElement && element.isContentEditable);
  if (!isText) throw new Failure("invalid", `${named(element)} is not a text field`);
  if (element.matches(":disabled") || (isField(element) && "readOnly" in element && element.readOnly)) throw new Failure("disabled", `${named(element)} accepts no typed text`);
  return element as HTMLElement;
}

function selectAll(target: HTMLElement): void {
  if (isField(target)) (target as HTMLInputElement).select();
  else document.getSelection()?.selectAllChildren(target);
}

/** Puts text where the selection is, with the events that typing causes; an empty one deletes it. */
export function insert(target: HTMLElement, text: string): void {
  // Dates, colours and sliders take no text.
  const takesText = !(target instanceof HTMLInputElement) || /^(text|search|url|tel|password|email|number|)$/.test(target.type);
  const done = takesText && (text === "" ? document.execCommand("delete") : document.execCommand("insertText", false, text));
  const isThere = isField(target) ? target.value.includes(text) : done;
  if (!done || !isThere) setValue(target, text);
}

/** As typing would, by the element's own setter: frameworks put theirs in front of it. */
export function setValue(target: HTMLElement, text: string): void {
  if (!isField(target)) {
    target.textContent = text;
  } else {
    const proto = target instanceof HTMLTextAreaElement ? HTMLTextAreaElement.prototype : target instanceof HTMLSelectElement ? HTMLSelectElement.prototype : HTMLInputElement.prototype;
    Object.getOwnPropertyDescriptor(proto, "value")?.set?.call(target, text);
  }
  target.dispatchEvent(new InputEvent("input", { bubbles: true, composed: true, inputType: "insertText", data: text }));
  target.dispatchEvent(new Event("change", { bubbles: true }));
}

const bare = (text: string): string => text.replace(/[\s.,/()+-]/g, "");

function readBack(target: HTMLElement, { text, replace }: Typing): string[] {
  if (isSecret(target)) return [`${named(target)} is filled (not shown)`];
  const value = isField(target) ? target.value : target.innerText;
  const shown = JSON.stringify(value.length > 500 ? `${value.slice(0, 500)}…` : value);
  if (value === text || (!replace && value.includes(text))) return [`${named(target)} has ${shown}`];
  if (bare(value) === bare(text)) return [`${named(target)} has ${shown}, as the page writes it`];
  return [`NOT as wanted: ${named(target)} has ${shown}. The page has changed what was typed`];
}

/** Chooses options by their value or by what is written on them. */
export async function selectOptions(element: Element, values: string[]): Promise<Change> {
  if (!(element instanceof HTMLSelectElement)) throw new Failure("invalid", `${named(element)} is not a native list: open it with browser_click and click the option`);
  const wanted = values.map((value) => {
    const found = [...element.options].find((option) => option.value === value) ?? [...element.options].find((option) => option.label.trim() === value.trim());
    if (found === undefined) {
      const there = [...element.options].slice(0, 20).map(({ label }) => JSON.stringify(label));
      throw new Failure("not_found", `${named(element)} has no option ${JSON.stringify(value)}. It has: ${there.join(", ")}`);
    }
    return found;
  });
  if (!element.multiple && wanted.length !== 1) throw new Failure("invalid", `${named(element)} accepts only one option`);
  await pointAt(element);
  const change = await changing(() => {
    element.focus({ preventScroll: true });
    for (const option of element.options) option.selected = wanted.includes(option);
    element.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
    element.dispatchEvent(new Event("change", { bubbles: true }));
  });
  const chosen = [...element.selectedOptions].map(({ label }) => JSON.stringify(label)).join(", ");
  return { ...change, lines: [`${named(element)} has ${chosen || "nothing"} chosen`, ...change.lines] };
}

/** Fills one field of a form, by its kind. */
export async function fill(element: Element, { kind, value, site }: { kind: string; value: string; site?: string | undefined }): Promise<Change> {
  if (site !== undefined) return type(element, { text: value, submit: false, slowly: false, replace: true, site });
  if (kind === "combobox" && element instanceof HTMLSelectElement) return selectOptions(element, [value]);
  if (kind === "checkbox" || kind === "radio") return tick(element, value === "true");
  if (kind === "slider" || (element instanceof HTMLInputElement && /^(range|date|time|month|week|datetime-local|color)$/.test(element.type))) return put(element, value);
  return type(element, { text: value, submit: false, slowly: false, replace: true });
}

const isTicked = (element: Element): boolean => (element instanceof HTMLInputElement ? element.checked : element.getAttribute("aria-checked") === "true");

async function tick(element: Element, on: boolean): Promise<Change> {
  if (isTicked(element) === on) return { lines: [`${named(element)} was ${on ? "ticked" : "not ticked"} already`] };
  const change = await click(element, { button: "left", count: 1, modifiers: [] });
  const is = isTicked(element);
  return { ...change, lines: [`${is === on ? "" : "NOT as wanted: "}${named(element)} is ${is ? "ticked" : "not ticked"}`, ...change.lines] };
}

async function put(element: Element, value: string): Promise<Change> {
  if (!(element instanceof HTMLInputElement)) throw new Failure("invalid", `${named(element)} is not a native field: use browser_click and browser_press_key`);
  await pointAt(element);
  const change = await changing(() => {
    element.focus({ preventScroll: true });
    setValue(element, value);
  });
  const right = element.value === value;
  return { ...change, lines: [`${right ? "" : "NOT as wanted: "}${named(element)} has ${JSON.stringify(element.value)}`, ...change.lines] };
}
