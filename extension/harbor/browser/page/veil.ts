// What a picture must not show: the values of secret fields, and documents that the session may not use.
//
// Owns those styles, which are there for the moment of a picture and then as before. Must never change what a field has.

import { secretFields } from "./secrets.ts";

let undo: (() => void)[] = [];

function put(element: HTMLElement, name: string, value: string): void {
  const [before, priority] = [element.style.getPropertyValue(name), element.style.getPropertyPriority(name)];
  element.style.setProperty(name, value, "important");
  undo.push(() => element.style.setProperty(name, before, priority));
}

/** Puts the veil there, over the whole document or its secrets, until it is drawn; or takes it away. */
export async function veil(over: "all" | "secrets" | "nothing"): Promise<void> {
  for (const back of undo.splice(0)) back();
  if (over === "nothing") return;
  if (over === "all") put(document.documentElement, "opacity", "0");
  else for (const field of secretFields()) put(field, "-webkit-text-security", "disc");
  if (undo.length > 0 && document.visibilityState === "visible") await drawn();
}

/** Until the page is drawn as it is now. A frame that the browser does not draw at all is waited for no longer than it takes to draw one. */
export function drawn(): Promise<void> {
  return new Promise((done) => {
    requestAnimationFrame(() => requestAnimationFrame(() => done()));
    setTimeout(done, 200);
  });
}
