// What Harbor does for a page in the page's own tab, and in tabs that it has opened: reads, clicks, fills, by the part of the browser tools
// that is in documents.
//
//   page ─ agent.browser ─► web-agents-api (switch) ─► here: grant, the browser's permission ─► Documents ─► the part: its origin ─► done
//
// Owns which document a page reaches: one of its own origin, by that document's word at the moment in which it does something. Must
// never act in another one, or fill in or tell what stands in a secret field.

import { leavesOf, mayReadSite, mayUsePages, tabOf } from "../shared/browser/tabs.ts";
import type { NativeClient } from "../shared/native/client.ts";
import { type BrowserScope, type BrowserWish, neededFor } from "../shared/protocol/in_tabs.ts";
import { placeOf } from "../shared/origins/profile.ts";
import { CodedError } from "../shared/protocol/codes.ts";
import type { Asker } from "../shared/protocol/peer.ts";
import { DeniedError, ToolError } from "./browser/call.ts";
import type { ClosedTabs } from "./browser/closed_tabs.ts";
import { Closed, Documents, Failed, Silent, WentAway } from "./browser/documents.ts";
import type { Numbers } from "./browser/numbers.ts";
import type { Done, ElementView } from "./browser/page/commands.ts";
import type { Kind } from "./browser/page/failure.ts";
import { need } from "./needed.ts";
import type { OpenedTabs } from "./opened_tabs.ts";
import type { Addresses } from "./page_addresses.ts";
import { pictureFor } from "./page_picture.ts";
import { type Permits, lackOf } from "./page_scopes.ts";
import { LOAD_MS, ofTabs, whenLoaded } from "./page_tabs.ts";

export type BrowserRequest = { type: "browser" } & Asker & BrowserWish;

/** What this works with. */
export interface BrowserParts {
  bridge: Pick<NativeClient, "request">;
  permits: Permits;
  numbers: Numbers;
  opened: OpenedTabs;
  addresses: Pick<Addresses, "judged">;
  /** The tabs in whose pages AI clients have run scripts. That of the page itself was looked at before. */
  closedTabs?: Pick<ClosedTabs, "whileOpen"> | undefined;
}

/** What the browser says of itself. */
export const PERMITS: Permits = { readSite: mayReadSite, usePages: mayUsePages };

/** How much of a text a page gets, in characters. */
const MOST_CHARS = 50_000;
const LONGEST_URL = 8_192;
const LONGEST_TITLE = 300;

/** How often an element is looked for that is waited for, and how long anything may take, in milliseconds. */
const LOOK_MS = 200;
const MOST_MS = 60_000;

/** Does it, and gives what the page asked for: one end, whatever the browser does. */
export async function doInTabs(parts: BrowserParts, request: BrowserRequest, signal: AbortSignal): Promise<unknown> {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(new CodedError("ERR_TOOL_TIMEOUT", `this was not done within ${MOST_MS / 1000} s`)), MOST_MS);
  const ends = AbortSignal.any([signal, stop.signal]);
  const ended = new Promise<never>((_, reject) => ends.addEventListener("abort", () => reject(ends.reason), { once: true }));
  try {
    return await Promise.race([perform(parts, request, ends), ended]);
  } catch (error) {
    throw codedOf(error);
  } finally {
    clearTimeout(timer);
  }
}

async function perform(parts: BrowserParts, request: BrowserRequest, signal: AbortSignal): Promise<unknown> {
  await begin(parts, request);
  const tab = await tabFor(parts, request);
  if (tab === request.tab || parts.closedTabs === undefined) return inTab(parts, request, tab, signal);
  return parts.closedTabs.whileOpen(tab, signal, (ends) => inTab(parts, request, tab, ends));
}

async function inTab(parts: BrowserParts, request: BrowserRequest, tab: number, signal: AbortSignal): Promise<unknown> {
  const { origin, act } = request;
  const isOwn = tab === request.tab;
  const where = { documents: documentsFor(parts, { origin, tab, isOwn }, signal), tab, origin };
  // What another site shows in it is not led away: it may have cut all ties with the page that opened it.
  if (act === "navigate" && !isOwn) await where.documents.run(tab, 0, "note", {});
  // Its scope needs nothing of the browser's, and the browser tells where a tab goes to whoever may read the site.
  if (act === "waitForNavigation" && !(await parts.permits.readSite(origin))) throw unavailable("browser:activeTab.read");
  const other = await ofTabs(parts, request, tab, signal);
  if (act === "waitForNavigation") await need(parts.bridge, request, neededFor(request).scope);
  if (other.isDone) return other.value;
  // What a page has just had opened is on its way.
  if (!isOwn && !(await whenLoaded(tab, LOAD_MS, signal))) throw new CodedError("ERR_TOOL_TIMEOUT", `the page has not loaded within ${LOAD_MS / 1000} s`);
  if (act === "screenshot" && (await lackOf(parts.permits, origin, ["browser:activeTab.screenshot"])) !== undefined) throw unavailable("browser:activeTab.screenshot");
  const value = await done(where, request, signal);
  // What takes long may end after the person has taken the grant back.
  if (act === "waitForSelector" || act === "screenshot") await need(parts.bridge, request, neededFor(request).scope);
  return value;
}

/** Throws where the page may not do this, or the browser does not let Harbor do it. The bridge writes down that it is done. */
async function begin({ bridge, permits }: BrowserParts, request: BrowserRequest): Promise<void> {
  const { scope } = neededFor(request);
  const { origin, tab, act } = request;
  await bridge.request("host_begin_page_act", { origin, tab_id: tab, scope, act });
  if ((await lackOf(permits, origin, [scope])) !== undefined) throw unavailable(scope);
}

const unavailable = (scope: BrowserScope): CodedError =>
  new CodedError("ERR_SCOPE_REQUIRED", `${scope} is unavailable: the browser does not let Harbor use this site. requestPermissions asks for that, too, at a click`);

/** The tab that is meant: the page's own, or one that its origin has opened. Of others nobody learns whether they are there. */
async function tabFor({ opened }: BrowserParts, request: BrowserRequest): Promise<number> {
  const { tab, tabId, act } = request;
  if (tabId === undefined || (tabId === tab && act === "tabsGet")) return tab;
  // What it takes to open tabs is not what it takes there.
  if (tabId === tab) throw new CodedError("ERR_PERMISSION_DENIED", "this is the page's own tab: use activeTab");
  if (!(await opened.of(placeOf(request))).includes(tabId) || (await tabOf(tabId)) === undefined) throw new CodedError("ERR_PERMISSION_DENIED", "this site has no such tab: it is none that it opened, or closed");
  return tabId;
}

/** The documents of a tab, as far as they are of that origin. */
function documentsFor({ numbers }: BrowserParts, { origin, tab, isOwn }: { origin: string; tab: number; isOwn: boolean }, signal: AbortSignal): Documents {
  const ended = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  // With its own document the page that asks is gone, and so is its request.
  const leaves = () => (isOwn ? { gone: ended, stop: () => undefined } : leavesOf(tab));
  return new Documents({ leaves, allowed: async () => origin, tell: () => undefined, may: async (_, place) => place === origin }, numbers);
}

/** Where something is done. */
interface Where {
  documents: Documents;
  tab: number;
  origin: string;
}

/** What looks like a ref is one of CSS, too: refs are of those who were given them. */
const cssOf = (selector: string): string => (/^(f\d+)?e\d+$/.test(selector) ? `:is(${selector})` : selector);

async function done({ documents, tab, origin }: Where, request: BrowserRequest, signal: AbortSignal): Promise<unknown> {
  switch (request.act) {
    case "readability": {
      const { url, title, text } = await documents.run(tab, 0, "article", {});
      return { url: url.slice(0, LONGEST_URL), title: title.slice(0, LONGEST_TITLE), text: text.slice(0, MOST_CHARS) };
    }
    case "getHtml":
      return (await documents.run(tab, 0, "read", { mode: "html" })).text.slice(0, MOST_CHARS);
    case "getElement":
      return (await documents.run(tab, 0, "element", { target: cssOf(request.selector) })).element;
    case "waitForSelector":
      return waited(documents, tab, request, signal);
    case "click":
      return acted(documents.run(tab, 0, "click", { target: cssOf(request.selector), button: request.button, count: request.doubleClick ? 2 : 1, modifiers: [], plain: true }));
    case "fill":
      return acted(documents.run(tab, 0, "fill", { target: cssOf(request.selector), kind: "textbox", value: request.value, plain: true }));
    case "select":
      return acted(documents.run(tab, 0, "select", { target: cssOf(request.selector), values: request.values, plain: true }));
    case "screenshot":
      return pictureFor({ documents, tab, origin }, signal);
    case "scroll":
      return acted(documents.run(tab, 0, "scroll", { target: request.selector === undefined ? undefined : cssOf(request.selector), to: request.to, x: request.x, y: request.y }));
    default:
      throw new CodedError("ERR_INVALID_REQUEST", "agent.browser has no such function");
  }
}

/** The element, once it is to be seen. */
async function waited(documents: Documents, tab: number, { selector, timeout }: { selector: string; timeout: number }, signal: AbortSignal): Promise<ElementView> {
  const end = performance.now() + timeout;
  for (;;) {
    const { element } = await documents.run(tab, 0, "element", { target: cssOf(selector) }).catch(comes);
    if (element?.visible) return element;
    if (performance.now() >= end) throw new CodedError("ERR_TOOL_TIMEOUT", `nothing that fits was to be seen within ${timeout} ms`);
    await new Promise((next) => setTimeout(next, LOOK_MS));
    signal.throwIfAborted();
  }
}

/** Another document comes, or the page is busy: it is looked at next. */
function comes(error: unknown): { element: null } {
  if ((error instanceof WentAway && !(error instanceof Closed)) || error instanceof Silent) return { element: null };
  throw error;
}

/** An action that the document goes away after has been done. */
async function acted(doing: Promise<Done>): Promise<void> {
  const lines = await doing.then((one) => one.lines, (error: unknown) => {
    if (error instanceof WentAway) return [];
    throw error;
  });
  const other = lines.find((line) => line.startsWith("NOT as wanted"));
  if (other !== undefined) throw new CodedError("ERR_TOOL_FAILED", other);
}

/** Without what a failure says to models: of refs, and of tools that pages do not have. */
function forPages(message: string): string {
  const plain = message.replace(/ \[ref=[^\]]*\]/g, "").replace("neither a ref of a snapshot, such as e12, nor a CSS selector", "no CSS selector");
  return plain.replace(/[:.,] (use (a ref|browser_)|open it with browser_|name one by its ref|Take a new snapshot|close that first|browser_file_upload).*$/s, "");
}

const CODES: { [kind in Kind]?: string } = { invalid: "ERR_INVALID_REQUEST", denied: "ERR_PERMISSION_DENIED", timeout: "ERR_TOOL_TIMEOUT" };

function codedOf(error: unknown): unknown {
  if (error instanceof DeniedError) return new CodedError("ERR_PERMISSION_DENIED", "the tab shows another site");
  if (error instanceof Silent) return new CodedError("ERR_TOOL_TIMEOUT", "the page does not answer: it is busy, or shows a question of the browser itself");
  if (error instanceof Failed) return new CodedError(CODES[error.kind] ?? "ERR_TOOL_FAILED", forPages(error.message));
  if (error instanceof Closed) return new CodedError("ERR_TOOL_FAILED", "the tab is closed");
  if (error instanceof WentAway) return new CodedError("ERR_TOOL_FAILED", "the page went to another document");
  // What a browser says of itself is nothing for pages.
  return error instanceof ToolError ? new CodedError("ERR_TOOL_FAILED", "the browser does not allow this in this page") : error;
}
