// What stands in a line of an answer: words, emphasis, code, links, names of pictures.
//
// Owns how links look and where they lead. Must never load anything, and leads nowhere by itself: `openLink` does.

import type { Token, Tokens } from "marked";
import { visible, visibleProse } from "../../../shared/text/visible.ts";
import { type Child, h, textIn } from "../dom.ts";
import { addressOf, saysAddress } from "./address.ts";
import type { MarkdownOptions } from "./drawing.ts";
import { withCharacters } from "./entities.ts";

type Links = Pick<MarkdownOptions, "openLink">;

/** A written text; names of characters are those characters. */
export function words(text: string): string {
  return visibleProse(withCharacters(text));
}

/** `within`: inside a link, in which there is no other. */
export function inline(tokens: readonly Token[], links: Links, within = false): Child[] {
  return tokens.flatMap((token) => piece(token as Tokens.Generic, links, within));
}

function piece(token: Tokens.Generic, links: Links, within: boolean): Child[] {
  const inside = () => (token.tokens === undefined ? [words(String(token["text"] ?? token.raw))] : inline(token.tokens, links, within));
  switch (token.type) {
    case "strong":
      return [h("strong", {}, ...inside())];
    case "em":
      return [h("em", {}, ...inside())];
    case "del":
      return [h("del", {}, ...inside())];
    case "codespan":
      return [h("code", { dir: "auto" }, visibleProse(String(token["text"])))];
    case "br":
      return [h("br")];
    case "html":
      return /^<br\s*\/?>$/i.test(token.raw) ? [h("br")] : [visibleProse(token.raw)];
    case "link":
      return within ? inside() : link(token as Tokens.Link, links);
    case "image":
      return image(token as Tokens.Image, links, within);
    // It stands before the item, as a sign.
    case "checkbox":
      return [];
    case "escape":
      return [visibleProse(String(token["text"]))];
    default:
      return inside();
  }
}

function link({ href, tokens, autolink }: Tokens.Link, links: Links): Child[] {
  return linked(autolink === true ? href : withCharacters(href), inline(tokens, links, true), links);
}

function image({ href, text }: Tokens.Image, links: Links, within: boolean): Child[] {
  const name = text.trim() === "" ? "picture" : `picture: ${words(text)}`;
  return within ? [name] : linked(withCharacters(href), [name], links);
}

/** A text that leads somewhere, with the host unless it says it; the text alone where it may not lead there. */
function linked(href: string, text: Child[], links: Links): Child[] {
  const address = addressOf(href);
  if (address === undefined) return text;
  const { url, to, carriesData } = address;
  const open = (event: Event) => {
    event.preventDefault();
    links.openLink(url, carriesData);
  };
  const middle = (event: Event) => (event as MouseEvent).button === 1 && open(event);
  const anchor = h(
    "a",
    { href: url, title: visible(url).text, target: "_blank", rel: "noopener noreferrer", on: { click: open, auxclick: middle } },
    h("bdi", { dir: "auto" }, ...text),
  );
  const says = saysAddress(text.map(textIn).join(""), address);
  return says ? [anchor] : [anchor, h("span.host", {}, " (", h("bdi", { dir: "ltr" }, visibleProse(to)), ")")];
}
