// The part of the browser tools that is in a document: it reads and acts there, when the background asks.
//
// Owns nothing but the way to each command. Must never speak to the page, or start anything by itself.

import { closedShadowRoot } from "../../../shared/browser/content.ts";
import { changing } from "./change.ts";
import { type Answer, type Command, type Commands, type Elsewhere, type Name, PART, type Replies } from "./commands.ts";
import { MOST_COVERS, covers } from "./covers.ts";
import { turn } from "./effects.ts";
import { elementOf } from "./element.ts";
import { Failure } from "./failure.ts";
import { drop, keepPiece, upload } from "./files.ts";
import { fill, selectOptions, standsIn, type } from "./fields.ts";
import { switchHighlight } from "./highlight.ts";
import { pressKey } from "./keys.ts";
import { forget, forgetAll, turnedBack } from "./later.ts";
import { click, drag, hover, named } from "./pointer.ts";
import { read } from "./read.ts";
import { beginDocument, resolve } from "./refs.ts";
import { noteSecrets, secretValues, withoutSecrets } from "./secrets.ts";
import { snapshotOf } from "./snapshot.ts";
import { focused, openClosedRoots, parentOf } from "./tree.ts";
import { drawn, veil } from "./veil.ts";

openClosedRoots(closedShadowRoot);

const whole = (target: string | undefined): Element => (target === undefined ? (document.body ?? document.documentElement) : resolve(target));

const ways: { [N in Name]: (options: Commands[N]) => Promise<Replies[N]> | Replies[N] } = {
  snapshot: ({ target, ...how }) => ({ lines: snapshotOf(whole(target), how), path: pathFromTop() }),
  read: ({ mode, target }) => ({ text: read(whole(target), mode) }),
  article: () => ({ url: location.href, title: document.title, text: read(whole(undefined), "markdown") }),
  element: ({ target }) => ({ element: elementOf(target) }),
  click: ({ target, ...how }) => onLive(target, (element) => click(element, how)),
  hover: ({ target }) => onLive(target, hover),
  type: ({ target, ...typing }) => onLive(target, (element) => type(element, typing)),
  async key({ key, times }) {
    const receiver = focused() ?? document.body;
    let isWhole = true;
    const change = await changing(async () => {
      for (let time = 0; time < times; time += 1) isWhole = (await pressKey(key)) && isWhole;
    });
    const more = isWhole ? [] : ["the page got its events; what the browser itself would do at this key was not done"];
    return { ...change, lines: [`${named(receiver)} received it`, ...more, ...change.lines] };
  },
  select: ({ target, values, plain }) => onLive(target, (element) => selectOptions(element, values, plain)),
  fill: ({ target, ...what }) => onLive(target, (element) => fill(element, what)),
  drag: ({ from, to, ...at }) => onLive(from, (element) => drag(element, resolve(to), at)),
  scroll,
  veil: async ({ over }) => ({ before: await veil(over) }),
  covers() {
    const found = covers();
    if (found.length > MOST_COVERS) throw new Failure("unsupported", "there is more to cover in the page than a picture of it could show");
    return { covers: found, windowWidth: innerWidth };
  },
  note: () => ({}),
  keep: keepPiece,
  upload: ({ target, ...what }) => upload(target === undefined ? undefined : resolve(target), what),
  drop: ({ target, ...what }) => drop(resolve(target), what),
  has({ text, gone, target }) {
    if (target !== undefined) return { is: isThere(target) };
    // Else whether a secret has a letter could be asked, one after the other.
    const shown = withoutSecrets(document.body?.innerText ?? "");
    return { is: text !== undefined ? shown.includes(text) : gone !== undefined ? !shown.includes(gone) : true };
  },
  mark({ target, name }) {
    resolve(target).dispatchEvent(new Event(name, { composed: true }));
    return {};
  },
  value: ({ target }) => ({ value: standsIn(resolve(target)) }),
  place({ target }) {
    const element = target === undefined ? document.documentElement : resolve(target);
    if (target !== undefined) element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    const { x, y, width, height } = element.getBoundingClientRect();
    const { scrollWidth, scrollHeight } = document.documentElement;
    return { x, y, width, height, pageWidth: scrollWidth, pageHeight: scrollHeight, windowWidth: innerWidth, windowHeight: innerHeight, scrolledX: scrollX, scrolledY: scrollY, ratio: devicePixelRatio };
  },
};

/** Pages draw elements anew while they are pointed at: what failed at one that is gone is done with the one in its place. */
async function onLive<T>(target: string, act: (element: Element) => Promise<T>): Promise<T> {
  for (let left = 5; ; left -= 1) {
    const element = resolve(target);
    forget(element);
    try {
      return await act(element);
    } catch (failure) {
      if (element.isConnected || left === 0) throw failure;
    }
  }
}

function isThere(target: string): boolean {
  try {
    return resolve(target).checkVisibility();
  } catch (failure) {
    if (failure instanceof Failure && failure.kind !== "invalid") return false;
    throw failure;
  }
}

async function scroll({ target, to, x, y }: Commands["scroll"]): Promise<Replies["scroll"]> {
  const element = target === undefined ? undefined : resolve(target);
  if (element !== undefined && to === undefined && x === 0 && y === 0) {
    element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    return { lines: [`${named(element)} is in view`] };
  }
  const box = scrollable(element);
  const before = { x: box.scrollLeft, y: box.scrollTop };
  if (to === "place") box.scrollTo({ left: x, top: y, behavior: "instant" });
  else if (to !== undefined) box.scrollTo({ top: to === "top" ? 0 : box.scrollHeight, behavior: "instant" });
  else box.scrollBy({ left: x, top: y, behavior: "instant" });
  // A tab that is not shown is not drawn, and the browser tells of scrolling when it draws.
  if (document.visibilityState !== "visible") (box === document.scrollingElement ? document : box).dispatchEvent(new Event("scroll", { bubbles: box === document.scrollingElement }));
  await (document.visibilityState === "visible" ? drawn() : turn());
  const moved = box.scrollLeft !== before.x || box.scrollTop !== before.y;
  const left = Math.max(0, Math.round(box.scrollHeight - box.clientHeight - box.scrollTop));
  return { lines: [moved ? `scrolled to ${Math.round(box.scrollTop)} of ${box.scrollHeight} pixels; ${left} below` : "nothing moved: it is already at its end"] };
}

/** The nearest box around it that can be scrolled; the page's where nothing is meant. */
function scrollable(element: Element | undefined): Element {
  for (let at: Element | null = element ?? null; at !== null; at = parentOf(at)) {
    const style = getComputedStyle(at);
    if (at.scrollHeight > at.clientHeight + 1 && /auto|scroll/.test(style.overflowY)) return at;
    if (at.scrollWidth > at.clientWidth + 1 && /auto|scroll/.test(style.overflowX)) return at;
  }
  return document.scrollingElement ?? document.documentElement;
}

/** Which frame this document is in: from the top, which of its parent's frames each is. */
function pathFromTop(): number[] {
  const path: number[] = [];
  for (let at: Window = window; at !== at.parent; at = at.parent) {
    let index = 0;
    while (index < at.parent.frames.length && at.parent.frames[index] !== at) index += 1;
    path.unshift(index);
  }
  return path;
}

/** Where this document is from: also where its address does not say, as in an empty one that a page made. */
const here = (): string => (self.origin === "null" ? location.href : self.origin);

/** After these a page may well change any field. */
const MOVES = new Set<Name>(["click", "key", "drag", "upload", "drop"]);

async function run(command: Command): Promise<Answer | Elsewhere> {
  if (command.place !== undefined && command.place !== here()) return { elsewhere: here() };
  const generation = beginDocument(command.generation);
  switchHighlight(command.highlight);
  noteSecrets();
  const notes = command.name === "veil" ? [] : turnedBack();
  if (MOVES.has(command.name)) forgetAll();
  const answer = await answered(command);
  noteSecrets();
  return { generation, secrets: secretValues(), ...withoutSecrets({ ...answer, notes }) };
}

async function answered(command: Command): Promise<{ reply: Replies[Name] } | { failure: { kind: Failure["kind"]; message: string } }> {
  try {
    const way = ways[command.name] as (options: Command["options"]) => Promise<Replies[Name]>;
    return { reply: await way(command.options) };
  } catch (error) {
    if (error instanceof Failure) return { failure: { kind: error.kind, message: error.message } };
    return { failure: { kind: "unsupported", message: error instanceof Error ? error.message : String(error) } };
  }
}

// Once in each document, however often it is put there.
const place = globalThis as unknown as { [PART]?: typeof run };
place[PART] ??= run;
