// What the panel asks a document about the page, and what it gets: one name each.
//
// Owns these forms; both sides take them from here.

import type { Sensitive } from "./sensitive.ts";

/** The name under which a document has its part, among the extension's own. */
export const PAGE_PART = "harborPagePart";

/** The file with that part. */
export const PAGE_FILE = "page_part.js";

export interface Asks {
  /** The whole page. */
  read: Record<never, never>;
  /** What is selected in it. */
  selection: Record<never, never>;
  /** The element that the person clicks; nothing where they cancel. */
  pick: Record<never, never>;
  /** Ends picking. */
  cancel: Record<never, never>;
  /** What a link says, or a picture's description. */
  words: { link?: string | undefined; picture?: string | undefined };
  /** Hides what stands in secret fields while a picture is taken. */
  veil: { over: "secrets" | "nothing" };
}

/** What was read, and where. All texts are the page's. */
export interface PageText {
  url: string;
  title: string;
  text: string;
}

/** `sensitive`: the kinds of fields in it whose pages are never sent by themselves. */
export interface PageRead extends PageText {
  sensitive: Sensitive[];
  /** The page is longer than anybody reads: this is its beginning. */
  isCut: boolean;
}

export interface Answers {
  read: PageRead;
  selection: PageText;
  pick: PageText | null;
  cancel: null;
  words: PageText;
  veil: null;
}

export type Ask = keyof Asks;

/** So many characters of a page are read at all. */
export const MOST_CHARS = 4_000_000;
