// The blocks of an answer: headings, paragraphs, lists, tables, quotes, code.
//
// Owns which elements they are. Must never make an element of what is written as HTML: that is text.

import type { Token, Tokens } from "marked";
import { visibleProse } from "../../../shared/text/visible.ts";
import { type Child, type VNode, h } from "../dom.ts";
import { code } from "./code.ts";
import { type Drawing, drawnOnce } from "./drawing.ts";
import { inline, words } from "./inline.ts";

/** `loose`: in a list whose items have space between them, as paragraphs do. */
export function block(token: Token, drawing: Drawing, loose = true): Child {
  switch (token.type) {
    case "space":
    case "def":
    case "checkbox":
      return undefined;
    case "heading":
      return h(`h${Math.min(6, token["depth"] + 3)}`, { dir: "auto" }, ...inline(token.tokens ?? [], drawing.options));
    case "code":
      return code(token as Tokens.Code, drawing);
    case "hr":
      return h("hr");
    case "blockquote":
      return h("blockquote", { dir: "auto" }, ...blocks(token.tokens ?? [], drawing));
    case "list":
      return list(token as Tokens.List, drawing);
    case "table":
      return table(token as Tokens.Table, drawing);
    case "html":
      return h("p.lines", { dir: "auto" }, visibleProse(token.raw.trimEnd()));
    default: {
      const { tokens, text, raw } = token as Tokens.Generic;
      const inside = tokens === undefined ? [words(String(text ?? raw))] : inline(tokens, drawing.options);
      return loose ? h("p", { dir: "auto" }, ...inside) : h("span", { dir: "auto" }, ...inside);
    }
  }
}

function blocks(tokens: readonly Token[], drawing: Drawing, loose = true): Child[] {
  return eachOf(tokens, drawing, (token) => block(token, drawing, loose));
}

/** Only the last of several may go on. */
function eachOf<T>(all: readonly T[], drawing: Drawing, draw: (one: T, at: number) => Child): Child[] {
  const { growing } = drawing;
  const drawn = all.map((one, at) => {
    drawing.growing = growing && at === all.length - 1;
    return draw(one, at);
  });
  drawing.growing = growing;
  return drawn;
}

/** As many as may be drawn. */
function some<T extends object>(all: readonly T[], how: string, drawing: Drawing, draw: (one: T) => Child): Child[] {
  return eachOf(all, drawing, (one) => {
    if (drawing.left > 0) return drawnOnce(one, how, drawing, () => draw(one));
    drawing.missing += 1;
    return undefined;
  });
}

function list({ items, ordered, start, loose }: Tokens.List, drawing: Drawing): VNode {
  const shown = some(items, String(loose), drawing, (one) => item(one, loose, drawing));
  return h(ordered ? "ol" : "ul", { start: ordered && start !== 1 && start, dir: "auto" }, ...shown);
}

function item({ tokens, task, checked }: Tokens.ListItem, loose: boolean, drawing: Drawing): VNode {
  drawing.left -= 1;
  const sign = task && h("span.task", { role: "img", "aria-label": checked === true ? "Done:" : "To do:" }, checked === true ? "☑ " : "☐ ");
  return h("li", { class: task ? "tasks" : undefined }, sign, ...blocks(tokens, drawing, loose));
}

function table({ header, rows, align }: Tokens.Table, drawing: Drawing): VNode {
  const shown = some(rows, "", drawing, (row) => cells(row, "td", drawing));
  return h(
    "div.table",
    { key: "table", tabindex: "0", role: "group", "aria-label": `Table, ${align.length} columns` },
    h("table", { dir: "auto" }, h("thead", {}, cells(header, "th", drawing)), h("tbody", {}, ...shown)),
  );
}

function cells(row: Tokens.TableCell[], tag: "th" | "td", drawing: Drawing): VNode {
  drawing.left -= Math.ceil(row.length / 8);
  const one = ({ tokens, align }: Tokens.TableCell) =>
    h(tag, { "data-align": align ?? undefined, scope: tag === "th" ? "col" : undefined, dir: "auto" }, ...inline(tokens, drawing.options));
  return h("tr", {}, ...row.map(one));
}
