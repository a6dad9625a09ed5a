// Which pages are never sent by themselves: those with a field for a password, a one-time code or a card.
//
// Owns that rule. Must never read what stands in a field. A field counts also where it is not to be seen: a page may show it at any moment.

import { rootOf } from "../browser/page/tree.ts";

export const SENSITIVE = ["password", "code", "card"] as const;
export type Sensitive = (typeof SENSITIVE)[number];

/** What a field says about itself. */
export interface FieldFacts {
  type: string;
  autocomplete: string;
  name: string;
  id: string;
}

const OF_AUTOCOMPLETE: [Sensitive, RegExp][] = [
  ["password", /(^|\s)(current|new)-password(\s|$)/i],
  ["code", /(^|\s)one-time-code(\s|$)/i],
  ["card", /(^|\s)cc-[a-z-]+(\s|$)/i],
];

/** What pages call such fields that they do not mark. */
const OF_NAME: [Sensitive, RegExp][] = [
  ["password", /(^|[^a-z])(passw(or)?d|passcode)([^a-z]|$)/i],
  ["code", /(^|[^a-z])(otp|totp|one-?time-?code|2fa)([^a-z]|$)/i],
  ["card", /(^|[^a-z])(cvv2?|cvc2?|card-?(number|num|no))([^a-z]|$)/i],
];

/** What kind of a sensitive field it is; nothing where it is none. */
export function sensitiveOf({ type, autocomplete, name, id }: FieldFacts): Sensitive | undefined {
  if (type === "password") return "password";
  if (type === "hidden") return undefined;
  const marked = OF_AUTOCOMPLETE.find(([, words]) => words.test(autocomplete));
  const called = OF_NAME.find(([, words]) => words.test(apart(name)) || words.test(apart(id)));
  return (marked ?? called)?.[0];
}

/** `cardNumber` and `card_number` are `card-number`. */
const apart = (name: string): string => name.replace(/([a-z])([A-Z])/g, "$1-$2").replaceAll("_", "-");

/** How deep frames in frames are looked at. */
const DEEPEST = 5;

/** The kinds of sensitive fields in a document: through shadow roots, and in frames of the same origin. */
export function sensitiveIn(root: Document | ShadowRoot, depth = 0): Sensitive[] {
  const found = new Set<Sensitive>();
  for (const element of root.querySelectorAll("*")) {
    const inner = rootOf(element);
    for (const one of [...(inner === null ? [] : sensitiveIn(inner, depth)), ...inFrame(element, depth)]) found.add(one);
    const kind = isInput(element) ? sensitiveOf(factsOf(element)) : undefined;
    if (kind !== undefined) found.add(kind);
  }
  return SENSITIVE.filter((one) => found.has(one));
}

/** By its name: an element of a frame is made by that frame's own constructors. */
const isInput = ({ localName }: Element): boolean => localName === "input" || localName === "textarea" || localName === "select";

function factsOf(field: Element): FieldFacts {
  const said = (name: string) => field.getAttribute(name) ?? "";
  // Shown as dots it is a password, whatever its type says.
  const isMasked = !/^(none)?$/.test(getComputedStyle(field).getPropertyValue("-webkit-text-security"));
  const type = isMasked ? "password" : said("type").trim().toLowerCase();
  return { type, autocomplete: said("autocomplete"), name: said("name"), id: field.id };
}

function inFrame(element: Element, depth: number): Sensitive[] {
  if ((element.localName !== "iframe" && element.localName !== "frame") || depth >= DEEPEST) return [];
  try {
    const inner = (element as HTMLIFrameElement).contentDocument;
    return inner === null ? [] : sensitiveIn(inner, depth + 1);
  } catch {
    // Of another origin: its text is not read either.
    return [];
  }
}
