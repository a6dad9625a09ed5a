// Who is at the other end of a port, by what the browser says of it and by nothing that the other end says itself.
//
// Pure. Owns both gates: from pages into `web-agents-api`, and from there into `harbor`. Must never look into a message.

import type { Sender } from "../browser/api.ts";
import { isPageOrigin } from "./origin.ts";
import { profileOf } from "./profile.ts";

/** The document that a content script runs in. */
export interface PageDocument {
  origin: string;
  tab: number;
  frame: number;
  /** The profile of the browser that its tab is in; absent: the default one. */
  profile?: string;
  /** An id of the document, where the browser gives one. */
  document?: string;
}

/** The document of a content script of the extension `ownId`; `undefined`: it is none, or none that can have permissions. */
export function pageOf(sender: Sender, ownId: string): PageDocument | undefined {
  const { id, origin, url, tab, frameId: frame, documentId } = sender;
  if (id !== ownId || tab === undefined || tab.incognito || frame === undefined) return undefined;
  if (origin === undefined || origin === "null" || !isPageOrigin(origin)) return undefined;
  // A frame that shows something else than its origin (about:, srcdoc, data:, blob:) is none of ours.
  if (url === undefined || !URL.canParse(url) || new URL(url).origin !== origin || /^blob:/i.test(url)) return undefined;
  const profile = profileOf(tab.store);
  return { origin, tab: tab.id, frame, ...(profile === undefined ? {} : { profile }), ...(documentId === undefined ? {} : { document: documentId }) };
}

/** Whether this is the background of the extension `peerId`. */
export function isBackgroundOf(sender: Sender, peerId: string, browser: "chrome" | "firefox"): boolean {
  if (sender.id !== peerId || sender.tab !== undefined || sender.url === undefined) return false;
  if (browser === "chrome") return sender.url === `chrome-extension://${peerId}/background.js`;
  // Firefox gives each installed extension a host of its own, and makes the page around background scripts.
  return /^moz-extension:\/\/[0-9a-f-]{36}\/_generated_background_page\.html$/.test(sender.url);
}

/** Which of our own pages this is, by its file; `undefined`: none. */
export function ownPage(sender: Sender, ownId: string, base: string): string | undefined {
  if (sender.id !== ownId || sender.url === undefined || !sender.url.startsWith(base)) return undefined;
  return /^[a-z]+\.html(?=$|[?#])/.exec(sender.url.slice(base.length))?.[0];
}
