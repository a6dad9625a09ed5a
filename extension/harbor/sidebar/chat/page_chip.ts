// The page as it is seen above the field: its chip, its menu, what of it goes, and why not more.
//
// Must never show a word of the page as one of ours: titles and hosts are foreign texts, each in an element of its own.

import { visible } from "../../../shared/text/visible.ts";
import { type Child, type VNode, h } from "../dom.ts";
import type { Hands } from "../hands.ts";
import { button, foreign, lines, oneLine } from "../parts.ts";
import { hostOf } from "../site.ts";
import type { Attached } from "../store.ts";
import { PAGE_ACT, attachPage, attachPicked, attachPicture, attachSelection, lookInside, neverHere, roomOf, stopPicking, switchPage } from "./page_doing.ts";
import { stopSummary } from "./page_send.ts";
import { fitted, tokenWords, tokensOf } from "./page_parts.ts";
import { type Standing, standingOf } from "./page_rules.ts";
import { findTools, pageTools } from "./page_tools.ts";

/** The line of the page, and what is under way with it. */
export function pageChip(hands: Hands): Child[] {
  const { page } = hands.state;
  const problem = h("div", { key: "page problem", role: "alert", id: "page-problem" }, page.problem === undefined ? undefined : h("p.problem", {}, page.problem));
  if (page.open === undefined) return [problem];
  const standing = standingOf(page);
  return [
    problem,
    underWay(hands),
    h("div.page", { key: "page", id: "page", "data-standing": standing.is }, ...(standing.is === "none" ? [] : chip(hands, standing)), standing.why === undefined ? undefined : h("p.why", { key: "why" }, standing.why)),
    pageTools(hands, standing),
    page.isShown && page.read !== undefined ? preview(hands, page.read.text) : undefined,
  ];
}

function chip(hands: Hands, standing: Standing): Child[] {
  const { open, read, isShown } = hands.state.page;
  const host = hostOf(open?.origin ?? "");
  const title = read?.title || open?.title || "";
  const isOn = standing.is === "on";
  const look = { class: "look", id: "page-look", type: "button", "aria-expanded": String(isShown), title: "What the model would get", on: { click: () => lookInside(hands) } };
  const words = [h("span.unseen", {}, "Open page: "), h("span.cut.host", {}, oneLine(host)), title === "" ? undefined : h("span.cut.title", {}, oneLine(title))];
  return [
    standing.is === "never" ? h("span.look", { key: "look" }, ...words) : h("button", { ...look, key: "look" }, ...words),
    isOn && read !== undefined ? h("span.soft.tokens", { key: "tokens" }, sizeWords(hands, read.text)) : undefined,
    standing.is === "on" || standing.is === "off"
      ? h("button.switch", { key: "switch", id: "page-switch", type: "button", role: "switch", "aria-checked": String(isOn), "aria-label": "Send the pages of this site with your messages", title: "Goes with each message", "aria-disabled": hands.isBusy(PAGE_ACT) ? "true" : undefined, on: { click: () => switchPage(hands, !isOn) } })
      : undefined,
    standing.is === "click" ? button("Attach", () => attachPage(hands), { key: "attach", id: "page-attach", class: "small", "aria-label": "Attach this page once", busy: hands.isBusy(PAGE_ACT) }) : undefined,
    menu(hands, standing),
  ];
}

function menu(hands: Hands, { is }: Standing): Child {
  const { choice, mayRead } = hands.state.page;
  if (is === "never" && choice !== "never") return undefined;
  const close = () => document.getElementById("page-menu")?.removeAttribute("open");
  const entry = (id: string, words: string, act: () => void, about?: string) => {
    const click = () => (close(), act());
    return h("li", { key: id }, h("button.option", { type: "button", id, on: { click } }, h("span.what", {}, h("span", {}, words), about === undefined ? undefined : h("span.soft", {}, about))));
  };
  const entries =
    is === "never"
      ? [entry("page-again", "Offer this site again", () => neverHere(hands, false))]
      : [
          entry("page-once", "Attach this page once", () => attachPage(hands)),
          entry("page-selection", "Attach the selected text", () => attachSelection(hands)),
          entry("page-pick", "Pick an element…", () => attachPicked(hands), "Click it in the page. Escape cancels."),
          entry("page-picture", "Attach a picture of it", () => attachPicture(hands), "The browser asks for all sites: it gives no pictures otherwise."),
          ...(mayRead ? [] : [entry("page-tools-find", "Look for tools of this page", () => findTools(hands), "The browser asks for this site.")]),
          entry("page-never", "Never on this site", () => neverHere(hands, true)),
        ];
  return h("details.menu", { key: "menu", id: "page-menu" }, h("summary", { "aria-label": "More about the open page" }), h("div.sheet", {}, h("ul.options", {}, ...entries)));
}

function sizeWords(hands: Hands, text: string): string {
  const [all, room] = [tokensOf(text), roomOf(hands)];
  return all <= room ? tokenWords(all) : `${tokenWords(room)} of ${tokenWords(all).replace("about ", "")}, cut`;
}

/** Word by word what would go. */
function preview(hands: Hands, text: string): Child {
  const { text: cut } = fitted(text, roomOf(hands));
  return h("div.preview", { key: "preview", id: "page-preview" }, h("p.soft", {}, `What the model would get, ${tokenWords(tokensOf(cut))}:`), lines(cut, "What the model would get of the open page", Infinity));
}

function underWay(hands: Hands): Child {
  const { progress, picking } = hands.state.page;
  const line = (id: string, words: string, label: string, stop: () => void) =>
    h("p.page-work", { key: "page work", id }, h("span", { role: "status" }, words), button(label, stop, { id: `${id}-stop`, class: "small" }));
  if (progress !== undefined) return line("page-progress", `Reading part ${progress.part} of ${progress.of}`, "Stop", () => stopSummary(hands));
  if (picking !== undefined) return line("page-picking", "Click an element in the page.", "Cancel", () => stopPicking(hands));
  return undefined;
}

/** Escape ends what is under way with the page; false: it means what it always means. */
export function pageKey(hands: Hands, event: Event): boolean {
  const { progress, picking } = hands.state.page;
  if ((event as KeyboardEvent).key !== "Escape" || (progress === undefined && picking === undefined)) return false;
  event.preventDefault();
  if (progress !== undefined) stopSummary(hands);
  else stopPicking(hands);
  return true;
}

/** Something that goes with the next message: its name, its size, all of it, and the way to take it away. */
export function attachedChip(one: Attached, remove: () => void): VNode {
  const name = visible(one.title).text;
  const tokens = one.text === undefined ? undefined : h("span.soft", {}, ` ${tokenWords(tokensOf(one.text))}`);
  const title = one.text === undefined ? foreign(one.title) : h("details.attachment", {}, h("summary", {}, h("span.cut", {}, oneLine(one.title)), tokens), lines(one.text, `What the model gets of ${name}`, Infinity));
  return h("li.chip", { key: String(one.id) }, title, button("×", remove, { class: "quiet", "aria-label": `Remove ${name}` }));
}
