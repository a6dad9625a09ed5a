// A frame around what is about to be used, so that a person who looks sees it before it is.
//
// Owns that frame. Must never take a click, or stay in the page.

import { pause } from "../../../shared/browser/content.ts";

/** How long it is there, in milliseconds. */
const SHOWN_MS = 150;

let isOn = true;

/** Whether elements are marked before they are used. */
export function switchHighlight(on: boolean): void {
  isOn = on;
}

/** Marks an element for a moment, where somebody may be looking; settles after that. */
export async function highlight(element: Element): Promise<void> {
  if (!isOn || document.visibilityState !== "visible") return;
  const { top, left, width, height } = element.getBoundingClientRect();
  const frame = document.createElement("div");
  const style = { position: "fixed", top: `${top - 3}px`, left: `${left - 3}px`, width: `${width}px`, height: `${height}px` };
  Object.assign(frame.style, style, { border: "3px solid #d97706", borderRadius: "4px", pointerEvents: "none", zIndex: "2147483647" });
  frame.setAttribute("aria-hidden", "true");
  document.documentElement.append(frame);
  try {
    await pause(SHOWN_MS);
  } finally {
    frame.remove();
  }
}
