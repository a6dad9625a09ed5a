// A page's elements as they are seen: through shadow roots and slots, without what is not shown.
//
// Owns what counts as shown. Must never change the page.

import { pictureOf } from "./areas.ts";
import { endsOf } from "./hiding.ts";
import { Style } from "./style.ts";

/** The browsers' own way into a closed shadow root, which pages do not have. */
let closedRoot: (element: Element) => ShadowRoot | null = (element) => element.shadowRoot;

/** Tells how closed shadow roots are opened; without it they stay closed. */
export function openClosedRoots(open: (element: HTMLElement) => ShadowRoot | null): void {
  // Asking the browser takes long, a hundred thousand times over: only custom elements, and those that stand empty, are likely to have one.
  const isLikely = (element: Element) => element.firstChild === null || element.localName.includes("-");
  closedRoot = (element) => element.shadowRoot ?? (element instanceof HTMLElement && isLikely(element) ? open(element) : null);
}

/** The shadow root of an element, open or closed. */
export const rootOf = (element: Element): ShadowRoot | null => closedRoot(element);

/** What stands in a node as it is drawn: a shadow root instead of the children, what was put into a slot instead of the slot. */
export function childrenOf(element: Element): Iterable<Node> {
  if (element instanceof HTMLSlotElement) {
    const assigned = element.assignedNodes({ flatten: true });
    if (assigned.length > 0) return assigned;
  }
  return (rootOf(element) ?? element).childNodes;
}

/** The element around this one as it is drawn; that of a shadow root's content is its host. */
export function parentOf(element: Element): Element | null {
  if (element.assignedSlot !== null) return element.assignedSlot;
  if (element.parentElement !== null) return element.parentElement;
  const root = element.getRootNode();
  return root instanceof ShadowRoot ? root.host : null;
}

/** Whether one is the other, or stands in it. */
export function isWithin(inner: Element | null, outer: Element): boolean {
  for (let at = inner; at !== null; at = parentOf(at)) if (at === outer) return true;
  return false;
}

const NEVER = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "HEAD", "META", "LINK", "TITLE", "BASE"]);

/** Whether nothing of this element, and of what stands in it, can be seen or used. */
export function isGone(element: Element, style: Style): boolean {
  if (NEVER.has(element.tagName) || element.getAttribute("aria-hidden") === "true" || element.hasAttribute("inert")) return true;
  // Without a box of its own, but its content has some.
  if (style.display === "contents") return false;
  // An area is where its picture is.
  if (element instanceof HTMLAreaElement) return pictureOf(element) === undefined;
  // An option has no box while its list is closed.
  if (element instanceof HTMLOptionElement || element instanceof HTMLOptGroupElement) return false;
  if (style.display === "none" || style.rest.contentVisibility === "hidden") return true;
  const around = element.parentElement;
  return around instanceof HTMLDetailsElement && !around.open && element.tagName !== "SUMMARY";
}

/** Whether an element stands elsewhere than the text around it would put it. */
export const isMoved = ({ position, transform, rest }: Style): boolean =>
  (position !== "static" && position !== "") || transform !== "none" || Number.parseFloat(rest.textIndent) < -100 || Number.parseFloat(rest.marginLeft) < -100;

/** Whether something around an element is elsewhere than it would be by itself. */
export function isMovedAround(element: Element): boolean {
  for (let at = parentOf(element); at !== null; at = parentOf(at)) if (isMoved(new Style(at))) return true;
  return false;
}

/**
 * Whether a person cannot see the text that stands directly in this element: text is hidden in these ways to be read by
 * programs only, which is how pages give orders to agents. `moved`: it, or what stands around it, is where it would not be by itself.
 */
export function isUnseen(element: Element, { display, visibility, rest: style }: Style, moved: boolean): boolean {
  if (visibility !== "visible" || Number.parseFloat(style.fontSize) < 2 || isColourless(element, style)) return true;
  if (display === "contents" || element instanceof HTMLOptionElement) return false;
  if (element instanceof HTMLDetailsElement && !element.open) return true;
  const { backgroundColor } = style;
  if (style.color === backgroundColor && style.backgroundImage === "none" && alpha(backgroundColor) === 1) return true;
  // A place in the page is asked for where it may matter only: for tens of thousands of elements it takes seconds.
  const isClipped = style.overflow !== "visible" || (moved && (style.clipPath !== "none" || (style.clip !== "auto" && style.clip !== "")));
  if (!moved && !isClipped) return false;
  // The box of one that stands in a line has nothing to do with where its text is indented to.
  const { width, height, right, bottom } = element.getBoundingClientRect();
  if (isClipped && (width <= 1 || height <= 1)) return true;
  if (Number.parseFloat(style.textIndent) < -width) return true;
  // Left of the page or above it, where nobody can scroll; what slides in begins there.
  return width > 0 && height > 0 && (right + scrollX <= 0 || bottom + scrollY <= 0) && !isSliding(element);
}

function isSliding(element: Element): boolean {
  for (let at: Element | null = element; at !== null; at = parentOf(at)) if (["transform", "translate", "left", "top"].some((property) => endsOf(at as Element, property).length > 0)) return true;
  return false;
}

/** True if its letters are drawn in no colour, and are not cut out of a picture behind them either. */
function isColourless(element: Element, style: CSSStyleDeclaration): boolean {
  if (alpha(style.webkitTextFillColor || style.color) >= 0.05 || style.textShadow !== "none") return false;
  for (let at: Element | null = element; at !== null; at = parentOf(at)) if (/text/.test(getComputedStyle(at).backgroundClip)) return false;
  return true;
}

function alpha(color: string): number {
  if (color === "transparent") return 0;
  const [, share] = /\/\s*([\d.]+)\s*\)$/.exec(color) ?? /^rgba\((?:[^,]+,){3}\s*([\d.]+)\)$/.exec(color) ?? [];
  return share === undefined ? 1 : Number(share);
}

/** Whether any of it is inside the window. */
export function isInView(element: Element): boolean {
  const { top, left, bottom, right, width, height } = element.getBoundingClientRect();
  return width + height > 0 && bottom > 0 && right > 0 && top < innerHeight && left < innerWidth;
}

/** What is at this place of the window, through shadow roots. */
export function elementAt(x: number, y: number): Element | null {
  let found = document.elementFromPoint(x, y);
  while (found !== null) {
    const inner: Element | null = rootOf(found)?.elementFromPoint(x, y) ?? null;
    if (inner === null || inner === found) break;
    found = inner;
  }
  return found;
}

/** What has the focus, through shadow roots. */
export function focused(): Element | null {
  let found = document.activeElement;
  while (found !== null) {
    const inner: Element | null = rootOf(found)?.activeElement ?? null;
    if (inner === null) break;
    found = inner;
  }
  return found;
}
