// Names for elements: `f<k>e<n>`, k for the document, n for the element.
//
// Owns that a name means one node for as long as the document lives, and what it was told to be: it is never given again. Where its
// node is gone it fails, with those that may have been meant; where a page has made something else of the node it fails, too. Must
// never keep a node alive.

import { Failure } from "./failure.ts";
import { calledOf, isField, isPlace, nameOf, roleOf } from "./roles.ts";
import { secretFields } from "./secrets.ts";
import { childrenOf, parentOf } from "./tree.ts";

interface Known extends Told {
  element: WeakRef<Element>;
  parent: WeakRef<Element> | undefined;
}

/** What an element was when it was last told of: to find it again, and to know it. */
export interface Told {
  role: string;
  name: string;
  /** Of what has no name: how the text in it begins. */
  text: string;
  /** Where a link leads. */
  href: string;
}

const refs = new WeakMap<Element, string>();
const known = new Map<string, Known>();
let generation = 0;
let last = 0;

/** Which document this is: what it was told first. */
export function beginDocument(k: number): number {
  if (generation === 0) generation = k;
  return generation;
}

/** The element's name, a new one where it has none; it is being told of. What it is and is called may be known already. */
export function refOf(element: Element, role = roleOf(element), called = calledOf(element, role)): string {
  const ref = refs.get(element) ?? `f${generation}e${++last}`;
  const parent = parentOf(element);
  refs.set(element, ref);
  // What stands in a place changes, and it is the same place.
  const byText = called === "" && !isField(element) && !isPlace(role);
  known.set(ref, { element: new WeakRef(element), parent: parent === null ? undefined : new WeakRef(parent), ...toldOf(element, role, called, byText) });
  return ref;
}

/** So much of a text is what something is known by, in characters. */
const KNOWN_BY = 60;

function toldOf(element: Element, role: string, name: string, byText: boolean): Told {
  // Only the beginning is looked at: a page can be one text.
  const text = byText ? (element.textContent ?? "").slice(0, 1_000).replace(/\s+/g, " ").trim().slice(0, KNOWN_BY) : "";
  return { role, name, text, href: element.getAttribute("href") ?? "" };
}

/** True if one is what was told of the other. What has lost its name is; a page adds to the label of a field what is wrong with it. Pure. */
export function isAsTold(told: Told, is: Told, isInField: boolean): boolean {
  if (told.role !== is.role || told.text !== is.text || told.href !== is.href) return false;
  if (is.name === "" || told.name === is.name) return true;
  return (isInField && told.name !== "" && (is.name.startsWith(told.name) || told.name.startsWith(is.name)));
}

/** The element of a name or a CSS selector that fits one element. */
export function resolve(target: string): Element {
  if (!/^(f\d+)?e\d+$/.test(target)) return selected(target);
  const ref = target.startsWith("f") ? target : `f${generation}${target}`;
  if (!ref.startsWith(`f${generation}e`)) {
    throw new Failure("stale", `${target} belongs to another document than the present one. Take a new snapshot`);
  }
  const one = known.get(ref);
  if (one === undefined) throw new Failure("stale", `there is no ${target} in this document. Take a new snapshot`);
  const element = one.element.deref();
  if (!element?.isConnected) return again(ref, one);
  const role = roleOf(element);
  const is = toldOf(element, role, calledOf(element, role), one.text !== "");
  if (isAsTold(one, is, isField(element))) return element;
  throw new Failure("stale", `${ref} was ${saidOf(one)} and is ${saidOf(is)} now: the page has made another thing of it. Take a new snapshot`);
}

const saidOf = ({ role, name, text, href }: Told): string => {
  const called = name || text;
  return `${role === "generic" ? "clickable" : role}${called === "" ? "" : ` ${JSON.stringify(called)}`}${href === "" ? "" : ` to ${href.slice(0, 200)}`}`;
};

/** The node is gone: what took its place, where that is certain. */
function again(ref: string, { role, name, parent, href }: Known): Element {
  const around = parent?.deref();
  const place = around?.isConnected ? around : document.documentElement;
  const alike = [...below(place)].filter((element) => roleOf(element) === role);
  const same = alike.filter((element) => calledOf(element, role) === name);
  const [found] = same;
  if (found !== undefined && same.length === 1 && around?.isConnected && name !== "") {
    const is = toldOf(found, role, name, false);
    if (is.href !== href) throw new Failure("stale", `${ref} is no longer in the page, and ${saidOf(is)} is in its place. Take a new snapshot`);
    refs.set(found, ref);
    known.set(ref, { element: new WeakRef(found), parent, ...is });
    return found;
  }
  const near = alike.slice(0, 5).map((element) => `${role} ${JSON.stringify(nameOf(element))} [ref=${refOf(element)}]`);
  const hint = near.length === 0 ? "" : ` Nearest: ${near.join(", ")}`;
  throw new Failure("stale", `${ref}, ${role} ${JSON.stringify(name)}, is no longer in the page.${hint}`);
}

/** All elements below one, through shadow roots. */
export function* below(element: Element): Generator<Element> {
  for (const child of childrenOf(element)) {
    if (!(child instanceof Element)) continue;
    yield child;
    yield* below(child);
  }
}

/** An attribute of this name is what a field holds: whether it begins with a letter could be asked, one after the other. */
const BY_VALUE = /\[\s*(?:[^\]=~|^$*]*\|)?value\b/i;

/** The selector with its escapes as what they stand for. */
const unescaped = (selector: string): string =>
  selector.replace(/\\(?:([0-9a-f]{1,6})\s?|(.))/gis, (_, code?: string, letter?: string) => (code === undefined ? (letter ?? "") : String.fromCodePoint(Math.min(parseInt(code, 16), 0x10ffff))));

function selected(selector: string): Element {
  const found = fitting(selector);
  const [one] = found;
  if (one === undefined) throw new Failure("not_found", `nothing in the page matches ${JSON.stringify(selector)}`);
  if (found.length > 1) throw new Failure("not_found", `${found.length} elements fit ${JSON.stringify(selector)}: name one by its ref`);
  return one;
}

/** All elements that a CSS selector fits. */
export function fitting(selector: string): Element[] {
  const asks = secretFields().length > 0;
  if (asks && BY_VALUE.test(unescaped(selector).replace(/\/\*[^]*?\*\//g, ""))) throw new Failure("invalid", "nothing is named by a value where there are fields for secrets: use a ref of a snapshot, its name or its id");
  return [...deep(document, selector)];
}

function* deep(root: Document | ShadowRoot, selector: string): Generator<Element> {
  try {
    yield* root.querySelectorAll(selector);
  } catch {
    throw new Failure("invalid", `${JSON.stringify(selector)} is neither a ref of a snapshot, such as e12, nor a CSS selector`);
  }
  for (const element of root.querySelectorAll("*")) {
    if (element.shadowRoot !== null) yield* deep(element.shadowRoot, selector);
  }
}
