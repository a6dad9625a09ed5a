// The page's text: as text, Markdown, HTML or tables; and what it says of itself for programs.
//
// Owns the forms. Must never give text that a person cannot see, or the value of a field.

import { Readability } from "@mozilla/readability";
import TurndownService from "turndown";
import { Failure } from "./failure.ts";
import { isVeiled } from "./hiding.ts";
import { dataOf } from "./product.ts";
import { isField } from "./roles.ts";
import { Style } from "./style.ts";
import { childrenOf, isGone, isMoved, isMovedAround, isUnseen, parentOf } from "./tree.ts";

export type Mode = "text" | "markdown" | "html" | "tables" | "data";

/** The text of an element; of the whole page where it is the body: the article, where there is one. */
export function read(element: Element, mode: Mode): string {
  if (mode === "tables") return tables(element);
  if (mode === "data") return dataOf(element);
  if (mode === "text") return tidy(textOf(element, around(element)));
  const copy = copyOf(element, around(element), document.implementation.createHTMLDocument(""), mode === "html") as HTMLElement | null;
  if (copy === null) return "";
  if (mode === "html") return new XMLSerializer().serializeToString(copy).replace(/ xmlns="[^"]*"/g, "");
  const article = element === document.body ? articleOf(copy) : undefined;
  const markdown = new TurndownService({ headingStyle: "atx", codeBlockStyle: "fenced", bulletListMarker: "-" });
  markdown.remove(["script", "style"]);
  markdown.addRule("table", { filter: "table", replacement: (_text, node) => `\n\n${table(node as HTMLTableElement, (cell) => cell.textContent ?? "")}\n\n` });
  return tidy(markdown.turndown(article ?? copy));
}

const tidy = (text: string): string => text.replace(/[ \t]+\n/g, "\n").replace(/\n{3,}/g, "\n\n").trim();

/** The article of a page that is one. A short find is no article. */
function articleOf(body: HTMLElement): HTMLElement | undefined {
  const page = document.implementation.createHTMLDocument(document.title);
  page.body.replaceWith(page.importNode(body, true));
  const found = new Readability<HTMLElement>(page, { serializer: (node) => node as HTMLElement }).parse();
  return found?.content && (found.length ?? 0) > 500 ? found.content : undefined;
}

/** What is known of the elements around one: that they are elsewhere than by themselves, or that nothing in them is seen. */
interface Around {
  moved: boolean;
  veiled: boolean;
}

function around(element: Element): Around {
  const all = { moved: isMovedAround(element), veiled: false };
  for (let at = parentOf(element); at !== null; at = parentOf(at)) all.veiled ||= isVeiled(at, new Style(at));
  return all;
}

const within = (element: Element, style: Style, { moved, veiled }: Around): Around => ({ moved: moved || isMoved(style), veiled: veiled || isVeiled(element, style) });

/** A copy of what is seen, with what stands in shadow roots, and without fields' values; of a document in which nothing runs. */
function copyOf(element: Element, outside: Around, into: Document, fields: boolean): Element | null {
  const style = new Style(element);
  if (isGone(element, style) || element instanceof HTMLIFrameElement || (isField(element) && !fields)) return null;
  const here = within(element, style, outside);
  const copy = into.importNode(element, false);
  const told = isField(element) ? TOLD_OF_FIELDS : TOLD;
  for (const { name } of [...copy.attributes]) if (!told.test(name) || (here.veiled && /^(alt|title)$/.test(name))) copy.removeAttribute(name);
  for (const name of ["href", "src"]) if (/^\s*(javascript|data):/i.test(copy.getAttribute(name) ?? "")) copy.removeAttribute(name);
  if (isField(element)) return copy;
  const unseen = here.veiled || isUnseen(element, style, here.moved);
  for (const child of childrenOf(element)) {
    if (child instanceof Element) {
      const made = copyOf(child, here, into, fields);
      if (made !== null) copy.append(made);
    } else if (child instanceof Text && !unseen) copy.append(child.data);
  }
  return copy;
}

const TOLD = /^(href|src|alt|title|colspan|rowspan|id|class)$/;

/** Of a field: what kind it is, and nothing that stands in it. */
const TOLD_OF_FIELDS = /^(type|name|id|class|title|placeholder|multiple)$/;

function textOf(element: Element, outside: Around): string {
  const style = new Style(element);
  if (isGone(element, style) || isField(element)) return "";
  const here = within(element, style, outside);
  if (element.tagName === "BR") return "\n";
  const unseen = here.veiled || isUnseen(element, style, here.moved);
  let text = "";
  for (const child of childrenOf(element)) {
    if (child instanceof Element) text += textOf(child, here);
    else if (child instanceof Text && !unseen) text += style.rest.whiteSpace.startsWith("pre") ? child.data : child.data.replace(/\s+/g, " ");
  }
  if (element.tagName === "TD" || element.tagName === "TH") return `${text}\t`;
  return style.display.startsWith("inline") || style.display === "contents" ? text : `\n${text}\n`;
}

function tables(element: Element): string {
  const found = element instanceof HTMLTableElement ? [element] : [...element.querySelectorAll("table")].filter((table) => table.checkVisibility());
  if (found.length === 0) throw new Failure("not_found", "there is no table here");
  const read = (one: HTMLTableElement) => {
    const outside = { veiled: around(one).veiled || isVeiled(one, new Style(one)), moved: true };
    return table(one, (cell) => textOf(cell, outside), (row) => row.checkVisibility());
  };
  return found.map(read).join("\n\n");
}

/** A table in Markdown, its first row as the heading. */
function table(element: HTMLTableElement, read: (cell: HTMLElement) => string, isShown: (row: Element) => boolean = () => true): string {
  const rows = [...element.rows].filter(isShown).map((row) => [...row.cells].map((cell) => tidy(read(cell)).replace(/\s*\n\s*/g, " ").replaceAll("|", "\\|")));
  const width = Math.max(0, ...rows.map((row) => row.length));
  const line = (cells: string[]) => `| ${Array.from({ length: width }, (_, at) => cells[at] ?? "").join(" | ")} |`;
  const [first = [], ...rest] = rows;
  const caption = element.caption === null ? "" : `${tidy(read(element.caption))}\n\n`;
  return `${caption}${[line(first), line(Array.from({ length: width }, () => "---")), ...rest.map(line)].join("\n")}`;
}
