// Code in an answer: its language, a button that copies it, and the rest of it where it is long.
//
// Owns how code looks. Must never run it.

import type { Tokens } from "marked";
import { visible, visibleProse } from "../../../shared/text/visible.ts";
import { type Child, type VNode, h } from "../dom.ts";
import { copyButton } from "../parts.ts";
import type { Drawing } from "./drawing.ts";

/** What is longer shows its beginning. */
export const FOLDED_AT = 25;

/** Code that still grows: what is certain is in pieces that stay the same. */
export interface GrowingCode extends Tokens.Code {
  certain?: { text: string; shown: string }[];
}

export function code(token: GrowingCode, drawing: Drawing): VNode {
  const { certain = [], text } = token;
  const last = text.endsWith("\n") ? text.slice(0, -1) : text;
  const whole = certain.length === 0 ? last : `${certain.map((piece) => piece.text).join("")}${last}`;
  const language = visible((token.lang ?? "").split(/[\s,{]/, 1)[0] ?? "").text.slice(0, 40);
  const coloured = colours(whole, language.toLowerCase(), drawing);
  const shown = coloured ?? [...certain.map(({ shown: piece }) => piece), visibleProse(last)];
  const count = whole.split("\n").length;
  const label = language === "" ? "Code" : `Code, ${language}`;
  return h(
    "div.code",
    { key: "code" },
    h("div.head", {}, h("span.language", {}, language === "" ? "Code" : language), copyButton(() => whole, "Copy the code", drawing.options)),
    h("pre", { tabindex: "0", role: "group", "aria-label": label, dir: "ltr", "data-long": count > FOLDED_AT }, h("code", {}, ...shown)),
    count > FOLDED_AT && fold(count),
  );
}

function colours(text: string, language: string, drawing: Drawing): Child[] | undefined {
  const { growing, options: { highlighting, refresh } } = drawing;
  if (highlighting === undefined || highlighting.state === "failed" || language === "") return undefined;
  if (highlighting.state === "ready" && !growing) return highlighting.coloured(text, language);
  drawing.waits = true;
  if (refresh !== undefined) highlighting.want(refresh);
  return undefined;
}

function fold(count: number): VNode {
  return h(
    "button.quiet",
    { type: "button", "aria-expanded": "false", on: { click: toggle } },
    h("span.closed", {}, `Show all ${count} lines`),
    h("span.opened", {}, `Show the first ${FOLDED_AT} lines`),
  );
}

/** What the person has opened stays open while more comes: nothing else sets these. */
function toggle({ currentTarget }: Event): void {
  const button = currentTarget as HTMLElement;
  const open = button.getAttribute("aria-expanded") !== "true";
  button.setAttribute("aria-expanded", String(open));
  button.parentElement?.toggleAttribute("data-open", open);
}
