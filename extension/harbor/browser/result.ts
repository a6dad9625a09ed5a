// What a browser tool answers: Harbor's own words, and what comes from pages, marked by where it comes from.
//
//   said ──────────────────────────────────┐
//   page text ─► without secrets ─► marked ─┴─► content (text, image) + structuredContent
//
// Owns the mark: everything that a page could have written goes through `marked`. Must never let text of a page stand outside of
// it, or have in it what is in no answer, whatever the tool has done about that.

import { LONGEST_TITLE, lastOf, shortened } from "./page/bound.ts";

/** Made of pages' words and ours. */
export interface Outcome {
  /** Harbor's words only. */
  said: string;
  /** What comes from the page: text, names of elements, titles, addresses. */
  page?: string;
  image?: { data: string; mimeType: string };
  /** For programs: numbers and Harbor's words. */
  structured?: { [name: string]: unknown };
  isError?: boolean;
  /** The tab that it is about, where that is another one than the call meant. */
  tabId?: number;
  /** The page answers nothing: what happened in it is not asked of it. */
  isSilent?: boolean;
}

/** The page that an answer is about, and what happened meanwhile. */
export interface Surroundings {
  tab?: { id: number; url: string; title: string; loading: boolean };
  tabs: { id: number; url: string; title: string; current: boolean }[];
  events: string[];
}

export interface Content {
  type: "text" | "image";
  text?: string;
  data?: string;
  mimeType?: string;
}

/** What a page can make as long as it likes stands in each answer only so far, in characters; and so many events do, the newest. */
const LONGEST_URL = 2_000;
const LONGEST_EVENT = 500;
const MOST_EVENT_CHARS = 10_000;
const MOST_EVENTS = 20;

/** MCP's CallToolResult. */
export interface ToolResult {
  [name: string]: unknown;
  content: Content[];
  structuredContent: { [name: string]: unknown };
  isError?: true;
}

/** Text of a page between marks that it cannot know or imitate. */
export function marked(text: string, origin: string, nonce: string): string {
  // What looks like a mark is none: the page is told nothing of the nonce, and gets no bracket either.
  const harmless = text.replace(/<(\/?)(page-text)/gi, "‹$1$2").replaceAll(nonce, "…");
  return `<page-text from="${origin}" id="${nonce}">\n${harmless}\n</page-text id="${nonce}">`;
}

/**
 * A tool's answer. `nonce`: nothing that anybody can guess, another one for each answer. `without`: takes out what is in no answer.
 * Harbor's own words stay as they are: else a page could take a warning away by having it as a value.
 */
export function resultOf(outcome: Outcome, around: Surroundings, nonce: string, without: (text: string) => string): ToolResult {
  const { tab, tabs, events } = withinBounds(around, without);
  const page = outcome.page === undefined ? undefined : without(outcome.page);
  const origin = tab === undefined ? "the browser" : originOf(tab.url);
  const parts = [outcome.said];
  const ofPage: string[] = [];
  if (page !== undefined && page !== "") ofPage.push(page);
  if (tab !== undefined) ofPage.push(`Page: ${JSON.stringify(tab.title)} ${tab.url}${tab.loading ? " (still loading)" : ""} [tab ${tab.id}]`);
  if (tabs.length > 1) ofPage.push(`Tabs: ${tabs.map(({ id, title, url, current }) => `${current ? "*" : ""}${id} ${JSON.stringify(title)} ${originOf(url)}`).join("; ")}`);
  if (events.length > 0) ofPage.push(`Events:\n${lastOf(events.map((event) => `- ${event}`), MOST_EVENT_CHARS)}`);
  if (ofPage.length > 0) parts.push(marked(ofPage.join("\n\n"), origin, nonce));
  const content: Content[] = [{ type: "text", text: parts.filter((part) => part !== "").join("\n") }];
  if (outcome.image !== undefined) content.push({ type: "image", ...outcome.image });
  return {
    content,
    structuredContent: {
      result: outcome.said,
      ...(page === undefined ? {} : { page_text: page }),
      ...(tab === undefined ? {} : { page: { tab_id: tab.id, url: tab.url, title: tab.title, loading: tab.loading } }),
      tabs: tabs.map(({ id, url, title, current }) => ({ tab_id: id, url, title, current })),
      events: events.slice(-MOST_EVENTS),
      ...outcome.structured,
    },
    ...(outcome.isError ? { isError: true as const } : {}),
  };
}

/** Cut where it is too long, after it was cleaned: nobody knows a piece of a secret. An address leads there only as it is. */
function withinBounds({ tab, tabs, events }: Surroundings, without: (text: string) => string): Surroundings {
  const short = <T extends { url: string; title: string }>(one: T): T => ({ ...one, url: shortened(one.url, LONGEST_URL), title: shortened(without(one.title), LONGEST_TITLE) });
  return { ...(tab === undefined ? {} : { tab: short(tab) }), tabs: tabs.map(short), events: events.map((event) => shortened(without(event), LONGEST_EVENT)) };
}

export function originOf(url: string): string {
  try {
    const { origin, protocol } = new URL(url);
    return origin === "null" ? protocol : origin;
  } catch {
    return "an unknown place";
  }
}
