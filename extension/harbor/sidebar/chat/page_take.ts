// Reads pages: whole, what is selected, an element, a picture; each becomes an attachment of the next message.
//
// Owns that what was read is one document, whole. Must never read what the person has blocked, or give a page that went away while it
// was read.

import { type TabView, pictureOf, placeIn, runIn, tabOf } from "../../../shared/browser/tabs.ts";
import { blobOf, smaller } from "../../browser/picture.ts";
import { type Answers, type Ask, type Asks, PAGE_FILE, PAGE_PART, type PageRead, type PageText } from "../../page/forms.ts";
import type { Attached } from "../store.ts";
import { attached } from "./attaching.ts";
import { fitted } from "./page_parts.ts";
import { isSameDocument } from "./page_rules.ts";

/** Why nothing was read, in our words. */
export class PageError extends Error {}

const GONE = "The page changed while it was read, so nothing was sent. Try again.";
const SHUT = "The browser does not let Harbor read this page.";

/** How long a page may take to answer, in milliseconds. */
const ANSWER_MS = 15_000;

/** Runs in the document: must use nothing from around it. */
function call<A extends Ask>({ part, name, asked }: { part: string; name: A; asked: Asks[A] }): Promise<Answers[A]> | "missing" {
  const run = (globalThis as unknown as { [name: string]: ((name: A, asked: Asks[A]) => Promise<Answers[A]>) | undefined })[part];
  return run === undefined ? "missing" : run(name, asked);
}

/** Asks the document of a tab; `most`: how long it may take, in milliseconds. */
export async function askPage<A extends Ask>(tab: number, name: A, asked: Asks[A], most: number | undefined = ANSWER_MS): Promise<Answers[A]> {
  const order = { part: PAGE_PART, name, asked };
  const ask = async () => {
    const first = await runIn(tab, 0, call<A>, order);
    if (first !== "missing") return first;
    await placeIn(tab, 0, PAGE_FILE);
    return runIn(tab, 0, call<A>, order);
  };
  const answer = await within(ask().catch(refused), most);
  if (answer === "missing" || answer === undefined) {
    // Nothing is also what picking gives without an element.
    if (name === "pick" || name === "cancel" || name === "veil") return null as Answers[A];
    throw new PageError(GONE);
  }
  return answer as Answers[A];
}

function refused(error: unknown): never {
  const text = String(error);
  throw new PageError(/removed|no frame|no tab|closed|navigat|invalid (tab|frame)|actor|unloaded/i.test(text) ? GONE : SHUT);
}

function within<T>(work: Promise<T>, most: number | undefined): Promise<T> {
  if (most === undefined) return work;
  const late = new Promise<never>((_, reject) => setTimeout(() => reject(new PageError("The page does not answer. Try again.")), most));
  return Promise.race([work, late]);
}

/** All of a page that a person can see of it. */
export const readPage = (tab: number): Promise<PageRead> => whole(tab, () => askPage(tab, "read", {}));

/** Reads something, and looks whether the tab still shows that document. */
async function whole<T extends PageText>(tab: number, read: () => Promise<T>): Promise<T> {
  const text = await read();
  const after = await tabOf(tab);
  const isThere = after !== undefined && (after.pending === undefined || isSameDocument(after.pending, text.url)) && (after.url === "" || isSameDocument(after.url, text.url));
  if (!isThere) throw new PageError(GONE);
  return text;
}

export async function readSelection(tab: number): Promise<PageText> {
  const text = await whole(tab, () => askPage(tab, "selection", {}));
  if (text.text.trim() === "") throw new PageError("Nothing is selected in the page. Select some text there first.");
  return text;
}

/** The element that the person clicks; nothing where they cancel. */
export async function readPicked(tab: number): Promise<PageText | undefined> {
  const text = await askPage(tab, "pick", {}, undefined);
  if (text === null) return undefined;
  if (text.text.trim() === "") throw new PageError("There is no text in what you picked. Pick another element.");
  return whole(tab, async () => text);
}

/** What was read as an attachment, cut where it does not fit. */
export function attachedPage({ url, title, text }: PageText, room: number): Attached {
  return attached({ type: "page", url, title, text: fitted(text, room).text }, title || new URL(url).host);
}

/** What is to be seen of a page, without what stands in its secret fields. */
export async function takePicture({ id: tab, url }: TabView): Promise<Attached> {
  await askPage(tab, "veil", { over: "secrets" });
  try {
    const shown = await tabOf(tab);
    const picture = shown?.active ? await pictureOf(shown).catch(() => undefined) : undefined;
    if (picture === undefined) throw new PageError("The browser gives no picture of this page. Show it in its window first.");
    const after = await tabOf(tab);
    if (after === undefined || !after.active || !isSameDocument(after.url, url)) throw new PageError(GONE);
    const { data, mediaType } = await smaller(blobOf(picture));
    return attached({ type: "image", mediaType, data }, "Picture of the page");
  } finally {
    await askPage(tab, "veil", { over: "nothing" }).catch(() => undefined);
  }
}
