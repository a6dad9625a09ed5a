// Fields: typing, choosing, ticking, and reading back what stands there afterwards.
//
// Owns that the answer says what the field has, not what was wanted. Must never repeat what stands in a secret field.

import { type Change, changing } from "./change.ts";
import { Failure } from "./failure.ts";
import { focusOn } from "./focus.ts";
import { highlight } from "./highlight.ts";
import { isDisabled } from "./key_acts.ts";
import { pressKey } from "./keys.ts";
import { later } from "./later.ts";
import { click, named, pointAt } from "./pointer.ts";
import { isField, isSecret, valueOf } from "./roles.ts";
import { noteTyped } from "./secrets.ts";
import { insert, selectAll, setValue, tellOf } from "./typing.ts";

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
    focusOn(target);
    if (typing.replace) await selectAll(target);
    if (typing.slowly) for (const key of typing.text) await pressKey(key === "\n" ? "Enter" : key);
    else await insert(target, typing.text);
  });
  const lines = [...readBack(target, typing), ...change.lines];
  if (!typing.submit) return { ...change, lines };
  const sent = await changing(async () => void (await pressKey("Enter")));
  return { ...sent, lines: [...lines, "Enter was pressed", ...sent.lines] };
}

function editable(element: Element): HTMLElement {
  if (element instanceof HTMLInputElement && ["checkbox", "radio", "button", "submit", "reset", "image", "hidden"].includes(element.type)) {
    throw new Failure("invalid", `${named(element)} is not a text field: use browser_click`);
  }
  if (element instanceof HTMLInputElement && element.type === "file") throw new Failure("invalid", `${named(element)} takes a file, not text: use browser_file_upload`);
  const isText = element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement || (element instanceof HTMLElement && element.isContentEditable);
  if (!isText) throw new Failure("invalid", `${named(element)} is not a text field`);
  if (element.matches(":disabled") || (isField(element) && "readOnly" in element && element.readOnly)) throw new Failure("disabled", `${named(element)} accepts no typed text`);
  return element as HTMLElement;
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
export async function selectOptions(element: Element, values: string[], plain = false): Promise<Change> {
  if (plain) refuseSecret(element);
  if (!(element instanceof HTMLSelectElement)) throw new Failure("invalid", `${named(element)} is not a native list: open it with browser_click and click the option`);
  const wanted = values.map((value) => {
    const found = [...element.options].find((option) => option.value === value) ?? [...element.options].find((option) => option.label.trim() === value.trim());
    if (found === undefined) {
      const there = [...element.options].slice(0, 20).map(({ label }) => JSON.stringify(label));
      throw new Failure("not_found", `${named(element)} has no option ${JSON.stringify(value)}. It has: ${there.join(", ")}`);
    }
    if (isDisabled(found)) throw new Failure("disabled", `the option ${JSON.stringify(found.label)} of ${named(element)} is disabled`);
    return found;
  });
  if (!element.multiple && wanted.length !== 1) throw new Failure("invalid", `${named(element)} accepts only one option`);
  await reach(element);
  const choose = () => {
    focusOn(element);
    for (const option of element.options) option.selected = wanted.includes(option);
    element.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
    tellOf(element);
  };
  const change = await changing(choose, { answers: true });
  const isChosen = [...element.options].every((option) => option.selected === wanted.includes(option));
  later(element, isChosen);
  const chosen = [...element.selectedOptions].map(({ label }) => JSON.stringify(label)).join(", ");
  return { ...change, lines: [`${isChosen ? "" : "NOT as wanted: "}${named(element)} has ${chosen || "nothing"} chosen`, ...change.lines] };
}

/** A field that is set and not pointed at: pages draw their own in front of those of the browser. */
async function reach(element: Element): Promise<void> {
  if (element.matches(":disabled")) throw new Failure("disabled", `${named(element)} is disabled`);
  element.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
  await highlight(element);
}

function refuseSecret(element: Element): void {
  if (isSecret(element)) throw new Failure("denied", `${named(element)} is a secret field: nothing is filled in there`);
}

/** Fills one field of a form, by its kind. */
export async function fill(element: Element, { kind, value, site, plain = false }: { kind: string; value: string; site?: string | undefined; plain?: boolean }): Promise<Change> {
  if (plain) refuseSecret(element);
  if (site !== undefined) return type(element, { text: value, submit: false, slowly: false, replace: true, site });
  if (kind === "combobox" && element instanceof HTMLSelectElement) return selectOptions(element, [value]);
  if (kind === "checkbox" || kind === "radio") return tick(element, value === "true");
  if (kind === "slider" || (element instanceof HTMLInputElement && /^(range|date|time|month|week|datetime-local|color)$/.test(element.type))) return put(element, value);
  return type(element, { text: value, submit: false, slowly: false, replace: true });
}

const isTicked = (element: Element): boolean => (element instanceof HTMLInputElement ? element.checked : element.getAttribute("aria-checked") === "true");

async function tick(element: Element, on: boolean): Promise<Change> {
  if (isTicked(element) === on) return { lines: [`${named(element)} was ${on ? "ticked" : "not ticked"} already`] };
  const change = await clicked(element);
  const is = isTicked(element);
  later(element, is === on);
  return { ...change, lines: [`${is === on ? "" : "NOT as wanted: "}${named(element)} is ${is ? "ticked" : "not ticked"}`, ...change.lines] };
}

/** By the pointer; what a page has drawn another one in front of by itself. */
async function clicked(element: Element): Promise<Change> {
  const isNative = element instanceof HTMLInputElement;
  try {
    return await click(element, { button: "left", count: 1, modifiers: [], answers: true });
  } catch (failure) {
    if (!isNative || !(failure instanceof Failure) || (failure.kind !== "covered" && failure.kind !== "hidden")) throw failure;
    await reach(element);
    return changing(() => element.click(), { answers: true });
  }
}

/** What a field has, as it is verified: whether it is ticked, what is chosen in it, what is written there. */
export function standsIn(element: Element): string {
  if (isSecret(element)) throw new Failure("denied", `${named(element)} is a secret field: its value is never told`);
  const isBox = element instanceof HTMLInputElement && (element.type === "checkbox" || element.type === "radio");
  if (isBox || element.hasAttribute("aria-checked")) return String(isTicked(element));
  if (element instanceof HTMLElement && element.isContentEditable) return element.innerText;
  const value = valueOf(element);
  if (value === undefined) throw new Failure("invalid", `${named(element)} is not a field`);
  return value;
}

async function put(element: Element, value: string): Promise<Change> {
  if (!(element instanceof HTMLInputElement)) throw new Failure("invalid", `${named(element)} is not a native field: use browser_click and browser_press_key`);
  await reach(element);
  const set = () => {
    focusOn(element);
    setValue(element, value);
  };
  const change = await changing(set, { answers: true });
  const right = element.value === value;
  later(element, right);
  return { ...change, lines: [`${right ? "" : "NOT as wanted: "}${named(element)} has ${JSON.stringify(element.value)}`, ...change.lines] };
}
