// What fields were told to have, looked at once more: a page may turn a value back long after it took it.
//
// Owns those fields, for as long as a page usually takes for that. Must never tell what stands in a secret field.

import { named } from "./pointer.ts";
import { type Field, isField, isSecret } from "./roles.ts";

/** How long after it was told a value is looked at, in milliseconds; and of so many fields. */
const LATEST_MS = 30_000;
const MOST = 50;

interface Told {
  field: WeakRef<Element>;
  was: string;
  until: number;
}

let all: Told[] = [];

/** An answer says that a field has what it has now; only where that is as it was wanted is it worth another look. */
export function later(element: Element, isAsWanted: boolean): void {
  forget(element);
  if (isAsWanted && !isSecret(element)) all = [...all, { field: new WeakRef(element), was: stateOf(element), until: performance.now() + LATEST_MS }].slice(-MOST);
}

/** Nothing of this field is looked at any more: somebody uses it. */
export const forget = (element: Element): unknown => (all = all.filter(({ field }) => field.deref() !== element));

export const forgetAll = (): unknown => (all = []);

/** Which fields have something else by now, once each. */
export function turnedBack(): string[] {
  const now = performance.now();
  const lines: string[] = [];
  all = all.filter(({ field, was, until }) => {
    const element = field.deref();
    if (element === undefined || !element.isConnected || until < now) return false;
    const is = stateOf(element);
    if (is !== was) lines.push(`NOT as it was: ${named(element)} had ${was} and has ${is} now; the page has changed it since`);
    return is === was;
  });
  return lines;
}

function stateOf(element: Element): string {
  if (element instanceof HTMLInputElement && /^(checkbox|radio)$/.test(element.type)) return element.checked ? "a tick" : "no tick";
  if (element instanceof HTMLSelectElement) return [...element.selectedOptions].map(({ label }) => JSON.stringify(label)).join(", ") || "nothing";
  if (isField(element)) return JSON.stringify((element as Field).value.slice(0, 500));
  return element.getAttribute("aria-checked") ?? "nothing";
}
