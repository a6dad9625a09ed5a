// What a picture must not show: the values of secret fields, and documents that the session may not use.
//
// Owns those styles, which are there for the moment of a picture and then as before. Must never change what a field has.

import { foreignFrames } from "./covers.ts";
import { secretFields } from "./secrets.ts";

/** Over the whole document, over its secrets by dots, or over its secret fields as if they were not there. */
export type Veil = "all" | "secrets" | "fields" | "nothing";

let undo: (() => void)[] = [];
let there: Veil = "nothing";

function put(element: HTMLElement | SVGElement, name: string, value: string): void {
  const [before, priority] = [element.style.getPropertyValue(name), element.style.getPropertyPriority(name)];
  element.style.setProperty(name, value, "important");
  undo.push(() => element.style.setProperty(name, before, priority));
}

/** A transition of the page's would have it seen for as long as that takes. */
function hide(element: HTMLElement | SVGElement): void {
  put(element, "transition", "none");
  put(element, "opacity", "0");
}

/** Puts the veil there until it is drawn; or takes it away. Gives the one that was there before: of a document that came meanwhile, none. */
export async function veil(over: Veil): Promise<Veil> {
  const before = there;
  for (const back of undo.splice(0).reverse()) back();
  there = over;
  if (over === "nothing") return before;
  // What lies above the page does not fade with it.
  if (over === "all") for (const element of document.querySelectorAll<HTMLElement>(":root, :modal, :popover-open, :fullscreen")) hide(element);
  // Such a frame is drawn by somebody else, and later than its own veil says.
  if (over === "fields") foreignFrames().forEach(hide);
  for (const field of over === "all" ? [] : secretFields()) {
    if (over === "fields") hide(field);
    else put(field, "-webkit-text-security", "disc");
  }
  if (undo.length > 0 && document.visibilityState === "visible") await drawn();
  return before;
}

/** Until the page is drawn as it is now. A frame that the browser does not draw at all is waited for no longer than it takes to draw one. */
export function drawn(): Promise<void> {
  return new Promise((done) => {
    requestAnimationFrame(() => requestAnimationFrame(() => done()));
    setTimeout(done, 200);
  });
}
