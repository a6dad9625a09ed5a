// What tests of answers look at: elements as text, and a text that is the same each time.
//
// Must never be part of a build.

import { type Child, type VNode, textIn } from "../dom.ts";
import type { MarkdownOptions } from "./drawing.ts";

/** As HTML, with the attributes that matter here. */
export function written(children: Child[]): string {
  return children.map(one).join("");
}

const TOLD = ["href", "start", "data-align", "data-kind", "aria-label"];

function one(child: Child): string {
  if (child === undefined || child === false) return "";
  if (typeof child === "string") return child;
  const { tag, attributes, children } = child;
  if (tag === "bdi") return written(children);
  const told = TOLD.filter((name) => attributes[name] !== undefined && attributes[name] !== false && tag !== "button" && tag !== "pre");
  const names = told.map((name) => ` ${name}="${attributes[name]}"`).join("");
  return `<${tag}${names}>${written(children)}</${tag}>`;
}

export function all(children: Child[]): VNode[] {
  return children.flatMap((child) => (typeof child === "object" ? [child, ...all(child.children)] : []));
}

export function find(children: Child[], tag: string, words = ""): VNode {
  const found = all(children).find((node) => node.tag === tag && textIn(node).includes(words));
  if (found === undefined) throw new Error(`no ${tag} with ${words} in ${written(children)}`);
  return found;
}

export interface Opened {
  options: MarkdownOptions;
  opened: [string, boolean][];
  refreshed: () => number;
}

export function options(more: Partial<MarkdownOptions> = {}): Opened {
  const opened: [string, boolean][] = [];
  let refreshed = 0;
  const refresh = () => void (refreshed += 1);
  return { opened, refreshed: () => refreshed, options: { openLink: (url, carries) => opened.push([url, carries]), say: () => {}, refresh, ...more } };
}

/** Numbers below the one that is asked for, the same in each run. */
export function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) & 0x7fff_ffff;
    return (state >> 8) % below;
  };
}
