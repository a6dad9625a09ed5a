// Elements of the page of a question, and foreign text in them.
//
// Must never parse HTML: texts become text nodes.

import { visible } from "../../shared/text/visible.ts";

export function element(tag: string, attributes: { [name: string]: string }, text = ""): HTMLElement {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.textContent = text;
  return made;
}

/** Foreign text, cut, with a button for the rest. */
export function foreign(text: string): Node[] {
  const { text: shown, whole } = visible(text);
  const isolated = element("bdi", { class: "foreign", dir: "auto" }, shown);
  if (whole === undefined) return [isolated];
  const more = element("button", { type: "button", class: "more", "aria-expanded": "false" }, "more");
  more.addEventListener("click", () => {
    const open = more.getAttribute("aria-expanded") === "true";
    more.setAttribute("aria-expanded", String(!open));
    more.textContent = open ? "more" : "less";
    isolated.textContent = open ? shown : whole;
  });
  return [isolated, more];
}
