// The entry "Ask Harbor about this" in the menu of pages.
//
// Owns what of a click reaches the panel, by the browser's session storage. It opens the panel. Must never send anything to a model.

import { type MenuClick, type Store, offerInMenu, openPanel } from "../../shared/browser/api.ts";

/** Under which name the panel finds what it is to be asked about. */
export const PAGE_ASKED = "pageAsked";

/** What the person wants to ask about. All texts are the page's. */
export interface PageAsked {
  /** The window whose panel is meant. */
  window: number;
  tab: number;
  url: string;
  kind: "page" | "selection" | "link" | "image";
  text: string;
  link?: string;
  picture?: string;
}

/** Offers it in each page; `ask`: the words of the entry. */
export function offerAsking(store: Store): void {
  offerInMenu("ask", "Ask Harbor about this", (click) => {
    // First, and at once: browsers open it for a click only.
    openPanel(click.window);
    void store.set(PAGE_ASKED, askedOf(click));
  });
}

export function askedOf({ window, tab, url, selection, link, picture }: MenuClick): PageAsked {
  const what = selection !== "" ? "selection" : picture !== undefined ? "image" : link !== undefined ? "link" : "page";
  return { window, tab, url, kind: what, text: selection, ...(link === undefined ? {} : { link }), ...(picture === undefined ? {} : { picture }) };
}

/** Reads what the storage has; `undefined`: nothing for this window. */
export function parseAsked(value: unknown, window: number | undefined): PageAsked | undefined {
  const asked = Object(value) as Partial<PageAsked>;
  const isWhole = typeof asked.tab === "number" && typeof asked.url === "string" && typeof asked.kind === "string" && typeof asked.text === "string";
  return isWhole && asked.window === window ? (asked as PageAsked) : undefined;
}
