// What stands in the place of an icon: servers, sites and apps bring none that could be trusted.
//
// Pure. Owns the colour by name: the same name has the same colour everywhere.

import { visible } from "../../shared/text/visible.ts";
import { type VNode, h } from "./dom.ts";

/** So many colours the page knows; sidebar.css has them. */
const HUES = 8;

/** Two letters of a name. */
export function initialsOf(name: string): string {
  const [one = "", two = ""] = visible(name).text.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "");
  return ([...one].slice(0, 1).join("") + ([...two][0] ?? [...one][1] ?? "")).toUpperCase();
}

export function hueOf(name: string): number {
  let sum = 7;
  for (const letter of name) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 9_973;
  return sum % HUES;
}

export function iconOf(name: string, key = name): VNode {
  return h("span.initials", { "aria-hidden": "true", "data-hue": String(hueOf(key)) }, initialsOf(name));
}
