// An element as it is told of to a page that asks by a selector.
//
// Owns what is told. Must never give the value of a secret field, or text that a person cannot see.

import type { ElementView } from "./commands.ts";
import { read } from "./read.ts";
import { fitting } from "./refs.ts";
import { calledOf, roleOf, statesOf, valueOf } from "./roles.ts";

const MOST_CHARS = 2_000;

/** Of those that fit, the first that is to be seen, else the first. */
export function elementOf(selector: string): ElementView | null {
  const all = fitting(selector);
  const element = all.find((one) => one.checkVisibility({ visibilityProperty: true })) ?? all[0];
  if (element === undefined) return null;
  const role = roleOf(element);
  const { x, y, width, height } = element.getBoundingClientRect();
  const value = valueOf(element);
  return {
    matches: all.length,
    tag: element.localName.slice(0, MOST_CHARS),
    ...{ role, name: calledOf(element, role), states: statesOf(element, role) },
    text: read(element, "text").slice(0, MOST_CHARS),
    ...(value === undefined ? {} : { value: value.slice(0, MOST_CHARS) }),
    visible: element.checkVisibility({ visibilityProperty: true }),
    box: { x, y, width, height },
  };
}
