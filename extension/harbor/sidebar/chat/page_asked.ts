// What the person asked about in the menu of a page: it becomes an attachment of the next message.
//
// Owns that each click is taken once, by the panel of its window. Nothing is sent by it.

import { ownWindow, sessionStore } from "../../../shared/browser/api.ts";
import { PAGE_ASKED, type PageAsked, parseAsked } from "../../page/menu.ts";
import type { Hands } from "../hands.ts";
import { attach, roomOf, withPage } from "./page_doing.ts";
import { hostsOf, lookAtPage } from "./page_open.ts";
import { originOf, standingOf } from "./page_rules.ts";
import { PageError, askPage, attachedPage, readPage } from "./page_take.ts";

/** Takes what waits for this window. */
export async function takeAsked(hands: Hands): Promise<void> {
  const asked = parseAsked(await sessionStore.get(PAGE_ASKED).catch(() => undefined), await ownWindow());
  if (asked === undefined) return;
  await sessionStore.set(PAGE_ASKED, null);
  withPage(hands, async () => {
    const origin = originOf(asked.url);
    const { is, why } = standingOf({ open: { tab: asked.tab, origin, isPrivate: false, isLoading: false }, choice: undefined, hosts: await hostsOf(hands), read: undefined });
    if (is === "never" || is === "none") throw new PageError(why ?? "");
    attach(hands, attachedPage(await textOf(asked), roomOf(hands)));
    void lookAtPage(hands);
  });
}

async function textOf({ tab, url, kind, text, link, picture }: PageAsked): Promise<{ url: string; title: string; text: string }> {
  if (kind === "page") return readPage(tab);
  const words = await askPage(tab, "words", { link, picture }).catch(() => ({ url, title: "", text: "" }));
  if (kind === "selection") return { ...words, url, text };
  const [what, address] = kind === "image" ? ["A picture in the page", picture] : ["A link in the page", link];
  // The data of a picture in the page are no address.
  const where = address === undefined || address.startsWith("data:") ? "" : ` (${address.slice(0, 2_000)})`;
  return { ...words, url, text: `${what}: ${words.text || "without words"}${where}` };
}
