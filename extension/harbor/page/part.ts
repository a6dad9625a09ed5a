// The part of the panel that is in a document: it reads the page, when the panel asks.
//
// Owns nothing but the way to each answer. Must never act in the page, start anything by itself, or give what stands in a secret field.

import { closedShadowRoot } from "../../shared/browser/content.ts";
import { read } from "../browser/page/read.ts";
import { noteSecrets, withoutSecrets } from "../browser/page/secrets.ts";
import { openClosedRoots } from "../browser/page/tree.ts";
import { veil } from "../browser/page/veil.ts";
import { type Answers, type Ask, type Asks, MOST_CHARS, PAGE_PART, type PageText } from "./forms.ts";
import { cancelPicking, pickElement } from "./picker.ts";
import { sensitiveIn } from "./sensitive.ts";

openClosedRoots(closedShadowRoot);

const LONGEST_TITLE = 300;

/** What the page says, with where and under which title, without what stands in secret fields. */
function told(text: string): PageText {
  noteSecrets();
  return withoutSecrets({ url: location.href.slice(0, 8_192), title: document.title.slice(0, LONGEST_TITLE), text });
}

const ways: { [A in Ask]: (asked: Asks[A]) => Promise<Answers[A]> | Answers[A] } = {
  read() {
    const text = read(document.body ?? document.documentElement, "markdown");
    return { ...told(text.slice(0, MOST_CHARS)), sensitive: sensitiveIn(document), isCut: text.length > MOST_CHARS };
  },
  selection: () => told(selected()),
  async pick() {
    const element = await pickElement();
    return element === undefined ? null : told(read(element, "markdown"));
  },
  cancel: () => (cancelPicking(), null),
  words: ({ link, picture }) => told(wordsOf(link, picture)),
  veil: async ({ over }) => (await veil(over), null),
};

/** What is selected here, or in a frame of the same origin. */
function selected(): string {
  const own = getSelection()?.toString() ?? "";
  if (own !== "") return own;
  for (const frame of document.querySelectorAll("iframe")) {
    const inner = frame.contentDocument?.getSelection()?.toString() ?? "";
    if (inner !== "") return inner;
  }
  return "";
}

function wordsOf(link: string | undefined, picture: string | undefined): string {
  const image = [...document.images].find(({ src, currentSrc }) => src === picture || currentSrc === picture);
  const anchor = [...document.links].find(({ href }) => href === link);
  return (image?.alt || image?.title || anchor?.textContent || "").trim();
}

// Once in each document, however often it is put there.
const place = globalThis as unknown as { [PAGE_PART]?: (name: Ask, asked: Asks[Ask]) => Promise<unknown> };
place[PAGE_PART] ??= async (name, asked) => (ways[name] as (asked: Asks[Ask]) => unknown)(asked);
