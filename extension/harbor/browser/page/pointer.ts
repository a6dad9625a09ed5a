// The mouse: into view, still, not covered, then the events that a real one causes.
//
//   resolve ─► scroll into view ─► still over two looks ─► a point in it ─► what is there? ─► events there
//                    ▲                                                      │
//                    └──────────── once, where it is something else ────────┘
//
// Owns where a click goes. Must never click what stands in front of what was meant: that is said instead.

import { pause } from "../../../shared/browser/content.ts";
import { pictureOf, placeOf } from "./areas.ts";
import { caretTo, selectBetween, selectWord } from "./caret.ts";
import { type Change, changing } from "./change.ts";
import type { Offset } from "./commands.ts";
import { Failure } from "./failure.ts";
import { focusOn, following, leaveFocus } from "./focus.ts";
import { endsOf, isVeiled } from "./hiding.ts";
import { highlight } from "./highlight.ts";
import { refOf } from "./refs.ts";
import { nameOf, roleOf } from "./roles.ts";
import { Style } from "./style.ts";
import { elementAt, isWithin, parentOf } from "./tree.ts";

export interface Point {
  x: number;
  y: number;
}

export interface Click {
  button: "left" | "right" | "middle";
  count: 1 | 2;
  modifiers: string[];
  at?: Offset | undefined;
  /** Requests that it begins are waited for. */
  answers?: boolean;
  /** For a page: no window is opened. */
  plain?: boolean;
}

/** A name for people: role, name, ref. */
export function named(element: Element): string {
  const [role, name] = [roleOf(element), nameOf(element)];
  return `${role}${name === "" ? "" : ` ${JSON.stringify(name)}`} [ref=${refOf(element, role)}]`;
}

/** Brings an element to where it can be pointed at, at a place of it where one is meant; the place. */
export async function pointAt(element: Element, wanted?: Offset): Promise<Point> {
  const box = wanted === undefined ? shownBy(element) : element;
  const offset = element instanceof HTMLAreaElement && box !== element ? placeOf(element, box.getBoundingClientRect()) : wanted;
  if (!box.checkVisibility({ visibilityProperty: true })) throw new Failure("hidden", `${named(element)} is in the page, but not visible`);
  if (!isInside(box.getBoundingClientRect())) intoView(box, offset);
  await still(box);
  await highlight(box);
  // Looking is dear in a page of many nodes.
  let seen = look(element, box, offset);
  if (!("at" in seen)) {
    // A box around it that scrolls may not show it, although it is inside the window.
    intoView(box, offset);
    await still(box);
    seen = look(element, box, offset);
  }
  for (const begun = performance.now(); !("at" in seen) && seen.inFront !== null && performance.now() - begun < goesWithin(seen.inFront); ) {
    await pause(50);
    seen = look(element, box, offset);
  }
  if ("at" in seen) return seen.at;
  if (seen.places === 0) throw new Failure("hidden", `${named(element)} has no area in the page to point at`);
  const { inFront } = seen;
  throw new Failure("covered", inFront === null ? `${named(element)} is outside of the window and cannot be scrolled to` : `${named(element)} is covered by ${named(cover(inFront))}: close that first, or scroll`);
}

/** How long what is in front may take to go away, in milliseconds: pages take it out by timers, which run once a second in a tab that nobody looks at. */
const goesWithin = (inFront: Element): number => (isFading(inFront) ? 3_000 : document.visibilityState === "visible" ? 400 : 2_500);

/** True for what nobody sees, or what will not be seen once its animation has ended. */
function isFading(inFront: Element | null): boolean {
  for (let at = inFront; at !== null; at = parentOf(at)) if (isVeiled(at, new Style(at)) || endsOf(at, "opacity").some((value) => Number(value) === 0)) return true;
  return false;
}

/** Its middle is in the middle of what shows it, or the place of it that is meant. */
function intoView(box: Element, offset: Offset | undefined): void {
  box.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
  if (offset === undefined) return;
  const { left, top } = box.getBoundingClientRect();
  const [x, y] = [left + offset.x, top + offset.y];
  if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) window.scrollBy({ left: x - innerWidth / 2, top: y - innerHeight / 2, behavior: "instant" });
}

/** A place where an event meets the element; else at how many was looked, and what stands in front. */
function look(element: Element, box: Element, offset: Offset | undefined): { at: Point } | { places: number; inFront: Element | null } {
  const places = offset === undefined ? placesIn(box) : [placeAt(box, offset)];
  let inFront: Element | null = null;
  for (const at of places) {
    const there = elementAt(at.x, at.y);
    if (there !== null && (isWithin(there, box) || there === element || isLabelOf(there, element))) return { at };
    inFront ??= there;
  }
  return { places: places.length, inFront };
}

/** A check box that is drawn by its label is pointed at there, and an area of a map in its picture. */
function shownBy(element: Element): Element {
  if (element instanceof HTMLAreaElement) return pictureOf(element) ?? element;
  if (!(element instanceof HTMLInputElement) || (element.type !== "checkbox" && element.type !== "radio")) return element;
  const { width, height } = element.getBoundingClientRect();
  const isDrawn = width > 1 && height > 1 && Number(getComputedStyle(element).opacity) > 0 && element.checkVisibility();
  return isDrawn ? element : (element.labels?.[0] ?? element);
}

const isLabelOf = (there: Element, element: Element): boolean =>
  "labels" in element && [...((element as HTMLInputElement).labels ?? [])].some((label) => isWithin(there, label));

const isInside = ({ top, left, bottom, right }: DOMRect): boolean => top >= 0 && left >= 0 && bottom <= innerHeight && right <= innerWidth;

/** The nearest thing around it that has a role: a dialog rather than a nameless box in it. */
function cover(element: Element): Element {
  for (let at: Element | null = element; at !== null && at !== document.body && at !== document.documentElement; at = parentOf(at)) if (roleOf(at) !== "generic") return at;
  return element;
}

/** What an event at a place went to, for people: what was meant, where it is in that. */
const receivedBy = (receiver: Element, meant: Element): string => named(isWithin(receiver, meant) ? meant : cover(receiver));

function placeAt(element: Element, { x, y }: Offset): Point {
  const { left, top, width, height } = element.getBoundingClientRect();
  if (x < 0 || y < 0 || x > width || y > height) throw new Failure("invalid", `${named(element)} is ${Math.round(width)}×${Math.round(height)} pixels: the place is outside of it`);
  return { x: left + x, y: top + y };
}

/** Waits, a second at most, until it stands at the same place in two drawings. What is not shown is not drawn, and stands. */
async function still(element: Element): Promise<void> {
  if (document.visibilityState !== "visible") return;
  let before = element.getBoundingClientRect();
  for (let look = 0; look < 50; look += 1) {
    await drawing();
    const now = element.getBoundingClientRect();
    if (now.x === before.x && now.y === before.y && now.width === before.width && now.height === before.height) return;
    before = now;
  }
}

/** Until the browser draws; a frame of a page that it does not draw is waited for no longer than it takes to draw one. */
function drawing(): Promise<void> {
  return new Promise((done) => {
    requestAnimationFrame(() => done());
    setTimeout(done, 50);
  });
}

const GRID = [0.02, 0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9, 0.98];

/** Its middle, and then the middles of its quarters, of a drawn shape those of a grid; only places inside the window. */
function placesIn(element: Element): Point[] {
  const box = [...element.getClientRects()].find(({ width, height }) => width > 0 && height > 0) ?? element.getBoundingClientRect();
  const at = (across: number, down: number) => ({ x: box.left + box.width * across, y: box.top + box.height * down });
  const grid = element instanceof SVGElement ? GRID.flatMap((down) => GRID.map((across) => at(across, down))) : [];
  const all = [at(0.5, 0.5), at(0.25, 0.25), at(0.75, 0.25), at(0.25, 0.75), at(0.75, 0.75), ...grid];
  return all.filter(({ x, y }) => x >= 0 && y >= 0 && x < innerWidth && y < innerHeight);
}

const BUTTONS = { left: 0, middle: 1, right: 2 };

/** What the events of one place have in common. */
function init({ x, y }: Point, modifiers: string[], more: MouseEventInit = {}): PointerEventInit {
  const has = (name: string) => modifiers.includes(name) || (name === "Control" && modifiers.includes("ControlOrMeta"));
  const base = { bubbles: true, cancelable: true, composed: true, view: window, clientX: x, clientY: y, screenX: x + screenX, screenY: y + screenY };
  return { ...base, ctrlKey: has("Control"), shiftKey: has("Shift"), altKey: has("Alt"), metaKey: has("Meta"), pointerId: 1, pointerType: "mouse", isPrimary: true, ...more };
}

/** Clicks, and says what received it and what changed. */
export async function click(element: Element, { button, count, modifiers, at, answers = false, plain = false }: Click): Promise<Change> {
  if (element.matches(":disabled") || element.getAttribute("aria-disabled") === "true") throw new Failure("disabled", `${named(element)} is disabled`);
  if (element instanceof HTMLInputElement && element.type === "file") throw new Failure("unsupported", `${named(element)} opens a window of the browser's own, which no tool can use: browser_file_upload puts files into it`);
  const place = await pointAt(element, at);
  const receiver = receiverAt(place, element);
  let opens: string | undefined;
  if (plain) refuseWindow(receiver, button);
  const act = () => {
    moveOver(receiver, place, modifiers);
    for (let nth = 1; nth <= count; nth += 1) opens = press(receiver, place, { button, modifiers, nth, plain }) ?? opens;
    if (count === 2) receiver.dispatchEvent(new MouseEvent("dblclick", init(place, modifiers, { detail: 2 })));
  };
  const change = await changing(act, { answers });
  // A link says where it opens, and no script of the page's does.
  if (change.begun === undefined && opensWindow(receiver)) change.begun = "opening";
  return { ...change, lines: [`${receivedBy(receiver, element)} received it`, ...change.lines], ...(opens === undefined ? {} : { opens }) };
}

/** What gets the events of a place. A browser may name the picture of a map, and gives them to the area. */
const receiverAt = ({ x, y }: Point, element: Element): Element => (element instanceof HTMLAreaElement ? element : (elementAt(x, y) ?? element));

/** The page of the web that a link leads to. */
function linkedFrom(receiver: Element): string | undefined {
  const link = receiver.closest("a[href], area[href]");
  return (link instanceof HTMLAnchorElement || link instanceof HTMLAreaElement) && /^https?:$/.test(link.protocol) ? link.href : undefined;
}

/** Or saves what it leads to. */
const opensWindow = (receiver: Element): boolean => receiver.closest('a[target]:not([target="_self"]), a[download]') !== null || receiver.closest("form[target]") !== null;

/** Presses a button of the mouse; the address that the browser would open in a tab of its own, and does not at events of scripts. */
function press(receiver: Element, place: Point, { button, modifiers, nth, plain }: { button: Click["button"]; modifiers: string[]; nth: number; plain: boolean }): string | undefined {
  const which = BUTTONS[button];
  const down = init(place, modifiers, { button: which, buttons: button === "left" ? 1 : button === "right" ? 2 : 4, detail: nth });
  const up = init(place, modifiers, { button: which, buttons: 0, detail: nth });
  following(() => receiver.dispatchEvent(new PointerEvent("pointerdown", down)));
  // Where the page wants to keep the focus it says so here.
  if (following(() => receiver.dispatchEvent(new MouseEvent("mousedown", down)))) {
    focusFor(receiver);
    if (button === "left" && nth === 1) caretTo(place, modifiers.includes("Shift"));
    if (button === "left" && nth === 2) selectWord(place);
  }
  following(() => receiver.dispatchEvent(new PointerEvent("pointerup", up)));
  following(() => receiver.dispatchEvent(new MouseEvent("mouseup", up)));
  // The page may have made another thing of it by now.
  if (plain) refuseWindow(receiver, button);
  if (button === "left") following(() => receiver.dispatchEvent(opensBeside(receiver) ? new MouseEvent("click", { ...up, ...BESIDE }) : new PointerEvent("click", up)));
  const isFree = button === "left" || receiver.dispatchEvent(new PointerEvent("auxclick", up));
  if (button === "right") receiver.dispatchEvent(new PointerEvent("contextmenu", up));
  return button === "middle" && isFree ? linkedFrom(receiver) : undefined;
}

/** Throws where a click would open a window or save a file: a page gets neither by a click of Harbor's. */
function refuseWindow(receiver: Element, button: Click["button"]): void {
  const link = receiver.closest("a, area");
  const isSaved = link !== null && (button === "middle" || link.hasAttribute("download"));
  if (isSaved || [targetOf(link, "target"), sendsTo(receiver)].some((target) => !/^(|_self|_top|_parent)$/i.test(target))) {
    throw new Failure("denied", "a click there opens a window or saves a file, which Harbor does for no page: use tabs.create()");
  }
}

/** In which window an element shows what it leads to: by its attribute of that name, else by the document's. */
const targetOf = (element: Element | null, name: string): string =>
  element === null ? "" : (element.getAttribute(name) ?? document.querySelector("base[target]")?.getAttribute("target") ?? "");

/** The same of the form that a click there sends. */
function sendsTo(receiver: Element): string {
  const control = receiver.closest("label")?.control ?? receiver.closest("button, input");
  const isSender = (control instanceof HTMLButtonElement || control instanceof HTMLInputElement) && /^(submit|image)$/.test(control.type);
  if (!isSender || control.form === null) return "";
  return control.hasAttribute("formtarget") ? targetOf(control, "formtarget") : targetOf(control.form, "target");
}

/** The key with which a link opens behind what the person looks at. */
const BESIDE: MouseEventInit = /^Mac/.test(navigator.platform) ? { metaKey: true } : { ctrlKey: true };

/** Chromium opens a link with a target in front, unless that key is held; it takes it from an extension for a plain mouse event only. Firefox does nothing then. */
const opensBeside = (receiver: Element): boolean => __BROWSER__ === "chrome" && receiver.closest('a[target="_blank"][href]:not([download])') !== null;

/** As a real press does: to the nearest element that takes the focus, or away from where it is. */
function focusFor(receiver: Element): void {
  for (let at: Element | null = receiver; at !== null; at = parentOf(at)) {
    const takesFocus = at instanceof HTMLElement ? at.tabIndex >= 0 || at.isContentEditable : at instanceof SVGElement && at.hasAttribute("tabindex");
    if (takesFocus && !at.matches(":disabled")) {
      focusOn(at as HTMLElement | SVGElement);
      return;
    }
  }
  leaveFocus();
}

let over: Element | null = null;

function moveOver(receiver: Element, place: Point, modifiers: string[]): void {
  const event = init(place, modifiers);
  if (over !== receiver) {
    if (over?.isConnected) {
      for (const type of ["pointerout", "pointerleave"]) over.dispatchEvent(new PointerEvent(type, { ...event, bubbles: type === "pointerout" }));
      for (const type of ["mouseout", "mouseleave"]) over.dispatchEvent(new MouseEvent(type, { ...event, bubbles: type === "mouseout" }));
    }
    receiver.dispatchEvent(new PointerEvent("pointerover", event));
    receiver.dispatchEvent(new MouseEvent("mouseover", event));
    // These do not bubble: each element around is entered by itself.
    const entered: Element[] = [];
    for (let at: Element | null = receiver; at !== null; at = parentOf(at)) entered.unshift(at);
    for (const at of entered) {
      at.dispatchEvent(new PointerEvent("pointerenter", { ...event, bubbles: false }));
      at.dispatchEvent(new MouseEvent("mouseenter", { ...event, bubbles: false }));
    }
    over = receiver;
  }
  receiver.dispatchEvent(new PointerEvent("pointermove", event));
  receiver.dispatchEvent(new MouseEvent("mousemove", event));
}

/** Moves over an element and stays there. */
export async function hover(element: Element): Promise<Change> {
  const place = await pointAt(element);
  const receiver = receiverAt(place, element);
  const change = await changing(() => moveOver(receiver, place, []));
  return { ...change, lines: [`the pointer is over ${receivedBy(receiver, element)}; styles of :hover do not follow it`, ...change.lines] };
}

/** Takes one element to another: by the events of the mouse, and by those of dragging where it is draggable; text between them is selected. */
export async function drag(from: Element, to: Element, { fromAt, toAt }: { fromAt?: Offset | undefined; toAt?: Offset | undefined } = {}): Promise<Change> {
  const start = await pointAt(from, fromAt);
  const first = elementAt(start.x, start.y) ?? from;
  const change = await changing(async () => {
    moveOver(first, start, []);
    const held = { button: 0, buttons: 1 };
    first.dispatchEvent(new PointerEvent("pointerdown", init(start, [], held)));
    const isFree = first.dispatchEvent(new MouseEvent("mousedown", init(start, [], held)));
    const data = new DataTransfer();
    const dragged = from.closest('[draggable="true"], a[href], img');
    const takes = dragged?.dispatchEvent(new DragEvent("dragstart", { ...init(start, []), dataTransfer: data })) ?? false;
    const end = await pointAt(to, toAt);
    const last = elementAt(end.x, end.y) ?? to;
    for (const share of [0.25, 0.5, 0.75, 1]) {
      const place = { x: start.x + (end.x - start.x) * share, y: start.y + (end.y - start.y) * share };
      const below = elementAt(place.x, place.y) ?? last;
      below.dispatchEvent(new PointerEvent("pointermove", init(place, [], held)));
      below.dispatchEvent(new MouseEvent("mousemove", init(place, [], held)));
      await pause(10);
    }
    if (dragged !== null && takes) {
      for (const type of ["dragenter", "dragover", "drop"]) last.dispatchEvent(new DragEvent(type, { ...init(end, []), dataTransfer: data }));
      dragged.dispatchEvent(new DragEvent("dragend", { ...init(end, []), dataTransfer: data }));
    }
    if (dragged === null && isFree) selectBetween(start, end);
    last.dispatchEvent(new PointerEvent("pointerup", init(end, [])));
    last.dispatchEvent(new MouseEvent("mouseup", init(end, [])));
  });
  return { ...change, lines: [`from ${named(from)} to ${named(to)}`, ...change.lines] };
}
