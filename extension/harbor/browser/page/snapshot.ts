// The page as a tree of roles, names and refs, in few words.
//
//   element ─ build ─► Item ─ distil ─► Item ─ render ─► lines ─ bound ─► text
//
// Owns what a snapshot has and leaves out. Must never give text that a person cannot see, or the value of a secret field.

import { isVeiled } from "./hiding.ts";
import { refOf } from "./refs.ts";
import { MOST_ELEMENTS, NOT_READ } from "./rest.ts";
import { calledOf, formOf, isField, isGauge, isInteractive, isNamed, isNamedByContent, isPlace, roleOf, statesOf, valueOf } from "./roles.ts";
import { Style } from "./style.ts";
import { childrenOf, isGone, isInView, isMoved, isMovedAround, isUnseen, parentOf } from "./tree.ts";

export type Filter = "all" | "interactive" | "viewport";

export interface SnapshotOptions {
  filter: Filter;
  /** How deep below the root; all when absent. */
  depth?: number | undefined;
  /** Where each element with a ref is in the window, and how large. */
  boxes?: boolean | undefined;
}

/** One line of a snapshot: how deep it stands, and what it says. Where a frame is, which of the document's frames that is. */
export interface Line {
  depth: number;
  text: string;
  frame?: number;
}

interface Item {
  role: string;
  name: string;
  ref: string | undefined;
  states: string[];
  props: [name: string, value: string][];
  children: (Item | string)[];
  frame?: number;
}

/** The lines of an element and of what stands in it. */
export function snapshotOf(root: Element, { filter, depth = Number.POSITIVE_INFINITY, boxes = false }: SnapshotOptions): Line[] {
  const items: (Item | string)[] = [];
  const budget = { left: MOST_ELEMENTS };
  build(root, { budget, filter, boxes, into: items, unseen: isHiddenAround(root), pointer: false, moved: isMovedAround(root) });
  const lines: Line[] = [];
  for (const item of distilled(items)) render(item, 0, depth, lines);
  if (budget.left <= 0) lines.push({ depth: 0, text: NOT_READ });
  return lines;
}

interface Build {
  /** How many elements may still be looked at. */
  budget: { left: number };
  filter: Filter;
  boxes: boolean;
  into: (Item | string)[];
  /** What stands around it cannot be seen. */
  unseen: boolean;
  /** It, or something around it, is elsewhere than it would be by itself. */
  moved: boolean;
  /** The hand is shown over what stands around it. */
  pointer: boolean;
}

const isHiddenAround = (root: Element): boolean => {
  for (let at = parentOf(root); at !== null; at = parentOf(at)) if (isVeiled(at, new Style(at))) return true;
  return false;
};

function build(element: Element, { budget, filter, boxes, into, unseen, pointer, moved: wasMoved }: Build): void {
  budget.left -= 1;
  if (budget.left < 0) return;
  const style = new Style(element);
  if (isGone(element, style)) return;
  const role = roleOf(element);
  const isHand = style.cursor === "pointer" && !pointer && !isInteractive(role) && role !== "document";
  const isUsed = isInteractive(role) || isHand || isField(element);
  const moved = wasMoved || isMoved(style);
  const hidden = unseen || isVeiled(element, style);
  const children: (Item | string)[] = [];
  const within = { budget, filter, boxes, into: children, unseen: hidden, pointer: pointer || style.cursor === "pointer", moved };
  if (element instanceof HTMLSelectElement) options(element, children);
  else if (element instanceof SVGElement) drawing(element, within);
  else if (!isField(element) && !isGauge(role)) contents(element, within, () => hidden || isUnseen(element, style, moved));
  if (filter === "viewport" && !isInView(element) && children.length === 0 && style.display !== "contents") return;
  const isShown = style.visibility === "visible" && style.display !== "contents";
  const kept = isShown && (isUsed || isPlace(role) || (role !== "generic" && role !== "paragraph"));
  if (!kept || (filter === "interactive" && !isUsed && role !== "iframe" && role !== "dialog" && role !== "heading")) {
    // One by one: a call takes only so many arguments.
    for (const child of separated(element, style, children)) into.push(child);
    return;
  }
  const called = isNamed(role) || isHand ? calledOf(element, role) : "";
  const name = hidden && role === "img" ? "" : called === "" && isHand && filter === "interactive" ? shortText(element) : called;
  const item: Item = { role, name, ref: isUsed || isPlace(role) ? refOf(element, role, called) : undefined, states: statesOf(element, role), props: propsOf(element), children };
  if (isHand) item.states.push("clickable");
  if (boxes && item.ref !== undefined) item.states.push(boxOf(element));
  if (element instanceof HTMLIFrameElement) {
    const index = frameIndex(element);
    if (index !== undefined) item.frame = index;
  }
  into.push(item);
}

const shortText = (element: Element): string => (element.textContent ?? "").replace(/\s+/g, " ").trim().slice(0, 100);

/** What can be used in a drawing; its words are not read. An icon has nothing of its own. */
function drawing(element: SVGElement, within: Build): void {
  if (element instanceof SVGSVGElement && element.querySelector('[role], a, [tabindex], [style*="cursor"]') === null && (within.pointer || isSmall(element))) return;
  for (const child of childrenOf(element)) if (child instanceof Element && !/^(title|desc|metadata|defs)$/.test(child.localName)) build(child, within);
}

function isSmall(element: Element): boolean {
  const { width, height } = element.getBoundingClientRect();
  return width < 50 && height < 50;
}

function boxOf(element: Element): string {
  const { x, y, width, height } = element.getBoundingClientRect();
  return `box=${[x, y, width, height].map(Math.round).join(",")}`;
}

/** A block's text is not joined to the text before it. */
function separated(element: Element, style: Style, children: (Item | string)[]): (Item | string)[] {
  const isInline = style.display.startsWith("inline") || style.display === "contents";
  return isInline || element.tagName === "BR" || children.length === 0 ? (element.tagName === "BR" ? ["\n"] : children) : ["\n", ...children, "\n"];
}

function contents(element: Element, within: Build, unseen: () => boolean): void {
  let isRead: boolean | undefined;
  for (const child of childrenOf(element)) {
    if (child instanceof Element) build(child, within);
    else if (child instanceof Text && within.filter !== "interactive" && child.data.trim() === "") within.into.push(" ");
    else if (child instanceof Text && within.filter !== "interactive" && (isRead ??= !unseen())) {
      if (within.filter === "all" || isInView(element)) within.into.push(child.data);
    }
  }
}

/** At most 30 options of a list; a snapshot of the list itself is asked for by its ref, with `browser_find`. */
function options(select: HTMLSelectElement, into: (Item | string)[]): void {
  for (const option of [...select.options].slice(0, 30)) {
    into.push({ role: "option", name: option.label, ref: undefined, states: option.selected ? ["selected"] : [], props: [], children: [] });
  }
  if (select.options.length > 30) into.push(`… ${select.options.length - 30} more options`);
}

function propsOf(element: Element): [string, string][] {
  const props: [string, string][] = [];
  if (element instanceof HTMLAnchorElement && element.hasAttribute("href")) props.push(["url", shortUrl(element)]);
  const placeholder = element.getAttribute("placeholder");
  if (placeholder !== null && placeholder !== "") props.push(["placeholder", placeholder]);
  const form = formOf(element);
  if (form !== undefined) props.push(["type", form]);
  const value = valueOf(element);
  if (value !== undefined && value !== "" && !(element instanceof HTMLSelectElement)) props.push(["value", value.slice(0, 500)]);
  return props;
}

/** Of this site without its host; never what a script would run. */
function shortUrl({ href }: HTMLAnchorElement): string {
  if (href.startsWith("javascript:")) return "javascript:";
  const url = href.startsWith(`${location.origin}/`) ? href.slice(location.origin.length) : href;
  return url.length > 200 ? `${url.slice(0, 200)}…` : url;
}

/** Which of the document's frames an element shows. */
function frameIndex(element: HTMLIFrameElement): number | undefined {
  for (let index = 0; index < window.frames.length; index += 1) if (window.frames[index] === element.contentWindow) return index;
  return undefined;
}

// Distilling: what is said twice, or says nothing, goes.

const textOf = (items: (Item | string)[]): string =>
  items.map((item) => (typeof item === "string" ? item : `${item.name} ${textOf(item.children)}`)).join(" ").replace(/\s+/g, " ").trim();

function distilled(items: (Item | string)[]): (Item | string)[] {
  const found: (Item | string)[] = [];
  let text = "";
  const flush = () => {
    for (const part of text.split("\n")) {
      const said = part.replace(/\s+/g, " ").trim();
      if (said !== "") found.push(said);
    }
    text = "";
  };
  for (const item of items) {
    if (typeof item === "string") {
      text += item === "\n" ? "\n" : item.replace(/\s+/g, " ");
      continue;
    }
    const made = slim({ ...item, children: distilled(item.children) });
    if (made === undefined) continue;
    flush();
    found.push(made);
  }
  flush();
  // A label is said as the name of its field.
  return found.filter((item, index) => typeof item !== "string" || ![found[index - 1], found[index + 1]].some((near) => typeof near === "object" && near.name === item));
}

function slim(item: Item): Item | undefined {
  if (item.role === "img" && item.name === "" && item.children.length === 0 && !item.states.includes("clickable")) return undefined;
  // What stands on a button is its name.
  if (isNamedByContent(item.role) && item.name !== "" && !item.children.some(isUsable) && isSaid(item.name, textOf(item.children))) item.children = [];
  else if (item.children.length === 1 && item.children[0] === item.name) item.children = [];
  const isEmpty = item.name === "" && item.children.length === 0 && item.props.length === 0;
  if (isEmpty && !isInteractive(item.role) && item.frame === undefined && !item.states.includes("clickable")) return undefined;
  return item;
}

const isSaid = (name: string, text: string): boolean => text === "" || name.includes(text) || text.includes(name);

/** Whether it has a ref, or something in it has. */
const isUsable = (item: Item | string): boolean => typeof item !== "string" && (item.ref !== undefined || item.children.some(isUsable));

// Rendering.

const quoted = (text: string): string => JSON.stringify(text);

function head({ role, name, ref, states, props }: Item): string {
  const parts = [role === "generic" ? "clickable" : role];
  if (name !== "") parts.push(quoted(name));
  if (ref !== undefined) parts.push(`[ref=${ref}]`);
  for (const state of states) if (state !== "clickable" || role !== "generic") parts.push(`[${state}]`);
  for (const [prop, value] of props) parts.push(`${prop}=${quoted(value)}`);
  return parts.join(" ");
}

function render(item: Item | string, depth: number, most: number, lines: Line[]): void {
  if (typeof item === "string") {
    lines.push({ depth, text: `text: ${item}` });
    return;
  }
  const row = rowOf(item);
  if (row !== undefined) {
    lines.push({ depth, text: `${head({ ...item, name: "" })}: ${row}` });
    return;
  }
  const only = item.children.length === 1 && typeof item.children[0] === "string" ? item.children[0] : undefined;
  const line: Line = { depth, text: only === undefined ? head(item) : `${head(item)}: ${only}` };
  if (item.frame !== undefined) line.frame = item.frame;
  lines.push(line);
  if (only !== undefined) return;
  if (depth >= most) {
    if (item.children.length > 0) lines.push({ depth: depth + 1, text: `… (${item.children.length} not shown: depth)` });
    return;
  }
  for (const child of item.children) render(child, depth + 1, most, lines);
}

/** A row of a table in one line, where there is only text in it, and what has nothing in it: links, buttons, fields. */
function rowOf({ role, children }: Item): string | undefined {
  if (role !== "row" || children.length === 0) return undefined;
  const cells: string[] = [];
  for (const cell of children) {
    if (typeof cell === "string") return undefined;
    const parts = cell.children.length === 0 && cell.ref === undefined ? [cell.name] : cell.children;
    if (parts.some((part) => typeof part !== "string" && (part.children.length > 0 || part.frame !== undefined))) return undefined;
    const within = parts.map((part) => (typeof part === "string" ? part.replaceAll("|", "\\|") : head(part))).join(" ");
    // One that is used itself is said to be there, with its ref.
    cells.push(cell.ref === undefined ? within : [head(cell).replaceAll("|", "\\|"), within].filter((part) => part !== "").join(": "));
  }
  return cells.join(" | ");
}
