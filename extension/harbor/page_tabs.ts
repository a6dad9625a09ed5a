// Tabs for a page: lists its own and those that it opened, opens, closes and leads them.
//
// Owns what a page learns of a tab: where it is only while it shows the page's own origin. Must never show a tab, or close one of the person's.

import { type TabView, closeTabs, goTo, goesElsewhere, loadedAfter, openBehind, tabOf } from "../shared/browser/tabs.ts";
import { placeOf } from "../shared/origins/profile.ts";
import { CodedError } from "../shared/protocol/codes.ts";
import { MOST_TABS } from "./opened_tabs.ts";
import type { BrowserParts, BrowserRequest } from "./page_in_tabs.ts";

/** A tab, as a page sees it. */
export interface PageTab {
  id: number;
  /** Whether it was opened by this site; else it is the page's own. */
  opened: boolean;
  active: boolean;
  loading: boolean;
  /** Only while it shows the page's own origin. */
  url?: string;
  title?: string;
}

type Parts = Pick<BrowserParts, "opened" | "addresses">;

/** How long a page may take to load, in milliseconds, and how often that is looked at. */
export const LOAD_MS = 10_000;
const LOOK_MS = 100;

/** Does what is about tabs and not about what stands in them. */
export async function ofTabs(parts: Parts, request: BrowserRequest, tab: number, signal: AbortSignal): Promise<{ isDone: boolean; value?: unknown }> {
  const isDone = (value?: unknown) => ({ isDone: true, value });
  switch (request.act) {
    case "tabsList":
      return isDone(await list(parts, request));
    case "tabsGet":
      return isDone((await list(parts, request)).find(({ id }) => id === tab) ?? null);
    case "tabsCreate":
      return isDone(await create(parts, request, request.url, signal));
    case "tabsClose":
      return isDone(await closeTabs([tab]));
    case "navigate":
      return isDone(await lead(parts, request, tab, request.url, signal));
    case "waitForLoad":
      if (!(await whenLoaded(tab, LOAD_MS, signal))) throw late();
      return isDone();
    case "waitForNavigation":
      return isDone(await navigated(tab, request.timeout, signal));
    default:
      return { isDone: false };
  }
}

async function list({ opened }: Parts, request: BrowserRequest): Promise<PageTab[]> {
  const { origin, tab } = request;
  const ids = [...new Set([tab, ...(await opened.of(placeOf(request)))])];
  const views = (await Promise.all(ids.map(tabOf))).filter((view) => view !== undefined);
  return views.map((view) => toldOf(view, origin, tab));
}

function toldOf({ id, active, loading, url, title }: TabView, origin: string, own: number): PageTab {
  const isOwn = URL.canParse(url) && new URL(url).origin === origin;
  return { id, opened: id !== own, active, loading, ...(isOwn ? { url: url.slice(0, 8_192), title: title.slice(0, 300) } : {}) };
}

async function create(parts: Parts, request: BrowserRequest, url: string, signal: AbortSignal): Promise<PageTab> {
  const { origin, tab, profile } = request;
  const address = await parts.addresses.judged(origin, url, signal);
  signal.throwIfAborted();
  // In the container of the tab that opens it: another one has other cookies.
  const beside = profile === undefined ? undefined : tab;
  const id = await parts.opened.open(placeOf(request), async () => (await openBehind(address, beside)).id);
  if (id === undefined) throw new CodedError("ERR_RATE_LIMITED", `a site may have ${MOST_TABS} tabs open: close one first`);
  const view = await tabOf(id);
  if (view === undefined) throw new CodedError("ERR_TOOL_FAILED", "the tab is closed");
  return toldOf(view, origin, tab);
}

async function lead(parts: Parts, { origin, tab: own }: BrowserRequest, tab: number, url: string, signal: AbortSignal): Promise<void> {
  const address = await parts.addresses.judged(origin, url, signal);
  signal.throwIfAborted();
  const go = () => goTo(tab, address).catch(() => Promise.reject(new CodedError("ERR_TOOL_FAILED", "the tab cannot go there")));
  // With its own tab the page itself goes, and nobody waits.
  if (tab === own) return go();
  if (!(await loadedAfter(tab, go, LOAD_MS))) throw late();
}

/** Until the tab has gone elsewhere, and the page there is loaded. */
async function navigated(tab: number, most: number, signal: AbortSignal): Promise<void> {
  const end = performance.now() + most;
  const isThere = (await goesElsewhere(tab, most, signal)) && (await whenLoaded(tab, end - performance.now(), signal));
  if (!isThere) throw new CodedError("ERR_TOOL_TIMEOUT", `the tab went nowhere within ${most} ms`);
}

const late = (): CodedError => new CodedError("ERR_TOOL_TIMEOUT", `the page has not loaded within ${LOAD_MS / 1000} s`);

/** Waits until a tab loads nothing; false where that takes longer. Throws where it is gone. */
export async function whenLoaded(tab: number, most: number, signal: AbortSignal): Promise<boolean> {
  const end = performance.now() + most;
  for (;;) {
    const view = await tabOf(tab);
    if (view === undefined) throw new CodedError("ERR_TOOL_FAILED", "the tab is closed");
    if (!view.loading) return true;
    if (performance.now() >= end) return false;
    await new Promise((next) => setTimeout(next, LOOK_MS));
    signal.throwIfAborted();
  }
}
