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

/** What a frame says about itself whose document cannot be looked into. */
export interface FrameFacts {
  address: string;
  title: string;
  name: string;
  id: string;
  /** What the page allows it. */
  allow: string;
}

const FRAME_OF_ADDRESS: [Sensitive, RegExp][] = [
  ["card", /(^|[^a-z])(pay(ments?|pal|ment-?form)?|checkout|card|cards|cc|cvv|cvc|3ds2?|acs|stripe|adyen|braintree(gateway)?|klarna|worldpay|mollie)([^a-z]|$)/i],
  ["code", /(^|[^a-z])(otp|totp|2fa|mfa|one-?time-?code)([^a-z]|$)/i],
  ["password", /(^|[^a-z])(log-?in|sign-?in|password|passwd|oauth2?|sso|auth)([^a-z]|$)/i],
];

/** What kind of a field such a frame will have; nothing where nothing says so: pages are full of frames for films and advertisements. */
export function sensitiveFrame({ address, title, name, id, allow }: FrameFacts): Sensitive[] {
  const words = [address, title, name, id].map(apart);
  const found = FRAME_OF_ADDRESS.filter(([kind, rule]) => words.some((word) => rule.test(word)) || (kind === "card" && /(^|[\s;])payment\b/i.test(allow))).map(([kind]) => kind);
  return /(^|[\s;])(publickey|otp)-credentials/i.test(allow) && !found.includes("password") ? [...found, "password"] : found;
}

/** The kinds of sensitive fields in a document: through shadow roots, and in frames, as far as they can be looked into. */
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
    if (inner !== null) return sensitiveIn(inner, depth + 1);
  } catch {
    // Of another origin.
  }
  return fromOutside(element, depth);
}

/** Of a frame of another origin only what the page itself says of it is known. */
function fromOutside(frame: Element, depth: number): Sensitive[] {
  const said = (name: string) => frame.getAttribute(name) ?? "";
  const written = said("srcdoc");
  // A document that no window shows loads and runs nothing.
  const within = written === "" ? [] : sensitiveIn(new DOMParser().parseFromString(written, "text/html"), depth + 1);
  return [...within, ...sensitiveFrame({ address: said("src"), title: said("title"), name: said("name"), id: frame.id, allow: said("allow") })];
}
