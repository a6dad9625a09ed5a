// What a page says of itself for programs: JSON-LD, and microdata in its elements.
//
// Owns the forms. It is no text that people see, so it is given where it was asked for alone. Must never give more than a part of a
// page that is made of it.

import { Failure } from "./failure.ts";
import { below } from "./refs.ts";

/** So many things are told, each so deep; a page may have one in another without end. */
const MOST = 100;
const DEEPEST = 8;

/** What is told of something: names and values. */
interface Thing {
  [name: string]: unknown;
}

/** All of it, as JSON. */
export function dataOf(element: Element): string {
  const scripts = [...element.ownerDocument.querySelectorAll<HTMLScriptElement>('script[type="application/ld+json"]')].map(({ text }) => text);
  const items = [element, ...below(element)].filter((one) => one.hasAttribute("itemscope") && !one.hasAttribute("itemprop"));
  const all = [...linkedData(scripts), ...items.map((item) => microdata(item, 0))].slice(0, MOST);
  if (all.length === 0) throw new Failure("not_found", "this page says nothing of itself as JSON-LD or microdata");
  return JSON.stringify(all, undefined, 1);
}

/** The things in a page's scripts; what is no JSON is left out. Pure. */
export function linkedData(scripts: string[]): unknown[] {
  return scripts.flatMap((script) => {
    try {
      const made: unknown = JSON.parse(script);
      const graph = typeof made === "object" && made !== null && "@graph" in made ? made["@graph"] : made;
      return Array.isArray(graph) ? (graph as unknown[]) : [graph];
    } catch {
      return [];
    }
  });
}

function microdata(item: Element, depth: number): Thing {
  const thing: Thing = {};
  const kind = item.getAttribute("itemtype");
  if (kind !== null) thing["@type"] = kind.replace(/^https?:\/\/schema\.org\//, "");
  for (const one of ownOf(item)) {
    const value = one.hasAttribute("itemscope") ? (depth < DEEPEST ? microdata(one, depth + 1) : "…") : valueOf(one);
    for (const name of (one.getAttribute("itemprop") ?? "").split(/\s+/)) thing[name] = name in thing ? [thing[name], value].flat() : value;
  }
  return thing;
}

/** The properties of an item, without those of items in it. */
function* ownOf(item: Element): Generator<Element> {
  for (const child of item.children) {
    if (child.hasAttribute("itemprop")) yield child;
    if (!child.hasAttribute("itemscope")) yield* ownOf(child);
  }
}

function valueOf(element: Element): string {
  const told = element.getAttribute("content") ?? element.getAttribute("datetime") ?? element.getAttribute("href") ?? element.getAttribute("src") ?? element.textContent;
  return (told ?? "").replace(/\s+/g, " ").trim().slice(0, 1_000);
}
