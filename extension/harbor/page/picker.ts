// The element picker: the person points at a part of the page and clicks it.
//
// Owns what lies over the page meanwhile: an empty frame that covers it. What happens in a frame never reaches the page's own
// handlers, not even those that a page put on its window first. Must never stay when picking has ended.

import { childrenOf, elementAt, parentOf } from "../browser/page/tree.ts";

let end: ((picked: Element | undefined) => void) | undefined;

/** Ends picking without an element. */
export const cancelPicking = (): void => end?.(undefined);

const OVER = { position: "fixed", inset: "0", width: "100vw", height: "100vh", border: "0", margin: "0", padding: "0", zIndex: "2147483647", background: "transparent", colorScheme: "normal" };
const MARK = { position: "fixed", border: "3px solid #0b5f8a", outline: "1px solid #fff", borderRadius: "4px", pointerEvents: "none", zIndex: "2147483646", boxSizing: "border-box" };

/** Waits for the element that the person chooses; nothing where they cancel. */
export function pickElement(): Promise<Element | undefined> {
  cancelPicking();
  const [cover, mark] = [document.createElement("iframe"), document.createElement("div")];
  Object.assign(cover.style, OVER);
  Object.assign(mark.style, MARK, { display: "none" });
  mark.setAttribute("aria-hidden", "true");
  cover.title = "Harbor: click an element, or press Escape";
  let at: Element | undefined;
  const show = (element: Element | undefined) => {
    if (element === undefined) return;
    at = element;
    place(mark, element);
  };
  return new Promise((resolve) => {
    end = (picked) => {
      end = undefined;
      removeEventListener("keydown", escape, true);
      cover.remove();
      mark.remove();
      resolve(picked);
    };
    const choose = () => end?.(at);
    const hears = heard({ cover, show, choose, at: () => at });
    const escape = (event: KeyboardEvent) => event.key === "Escape" && hears.keydown(event);
    addEventListener("keydown", escape, true);
    document.documentElement.append(mark, cover);
    listen(cover, hears);
    // Firefox puts another empty document there a little later.
    cover.addEventListener("load", () => listen(cover, hears), { once: true });
  });
}

function place(mark: HTMLElement, element: Element): void {
  const { top, left, width, height } = element.getBoundingClientRect();
  Object.assign(mark.style, { display: "block", top: `${top - 2}px`, left: `${left - 2}px`, width: `${width + 4}px`, height: `${height + 4}px` });
}

interface Picking {
  cover: HTMLElement;
  show(element: Element | undefined): void;
  choose(): void;
  at(): Element | undefined;
}

function heard({ cover, show, choose, at }: Picking) {
  const below = ({ clientX, clientY }: MouseEvent): Element | undefined => {
    cover.style.pointerEvents = "none";
    const found = elementAt(clientX, clientY);
    cover.style.pointerEvents = "";
    return found ?? undefined;
  };
  const around: { [key: string]: (element: Element) => Element | undefined } = {
    ArrowUp: (element) => (element === document.body ? undefined : (parentOf(element) ?? undefined)),
    ArrowDown: (element) => [...childrenOf(element)].find((child): child is Element => child instanceof Element && child.checkVisibility()),
  };
  return {
    mousemove: (event: MouseEvent) => show(below(event)),
    click(event: MouseEvent) {
      event.preventDefault();
      show(below(event));
      choose();
    },
    keydown(event: KeyboardEvent) {
      event.preventDefault();
      event.stopImmediatePropagation();
      if (event.key === "Escape") cancelPicking();
      else if (event.key === "Enter") choose();
      else show(around[event.key]?.(at() ?? document.body));
    },
    wheel: ({ deltaX, deltaY }: WheelEvent) => scrollBy({ left: deltaX, top: deltaY, behavior: "instant" }),
  };
}

function listen(cover: HTMLIFrameElement, hears: ReturnType<typeof heard>): void {
  const inner = cover.contentDocument;
  if (inner === null) return;
  inner.documentElement.style.cssText = "cursor: crosshair; height: 100%; background: transparent";
  for (const [name, hear] of Object.entries(hears)) inner.addEventListener(name, hear as EventListener);
  cover.focus({ preventScroll: true });
}
