// What a page may have Harbor do in its own tab, and in tabs that it has opened: `agent.browser`.
//
// Pure. Owns the names of these acts, which scope and which switch each takes, and how they are read. Must never let a field through
// that was not looked at.

import type { Fields } from "../ports/wire.ts";
import { CodedError } from "./codes.ts";

/** What a page can be allowed in tabs. */
export const BROWSER_SCOPES = [
  ...(["browser:activeTab.read", "browser:activeTab.interact", "browser:activeTab.screenshot"] as const),
  ...(["browser:navigate", "browser:tabs.read", "browser:tabs.create"] as const),
] as const;
export type BrowserScope = (typeof BROWSER_SCOPES)[number];

/** Switches of these, off until the person says otherwise. */
export const BROWSER_FLAGS = ["browserInteraction", "screenshots", "browserControl"] as const;
export type BrowserFlag = (typeof BROWSER_FLAGS)[number];

const READS = { scope: "browser:activeTab.read", flag: "browserInteraction" } as const;
const ACTS_IN = { scope: "browser:activeTab.interact", flag: "browserInteraction" } as const;

const SEES = { scope: "browser:activeTab.screenshot", flag: "screenshots" } as const;

const LEADS = { scope: "browser:navigate", flag: "browserControl" } as const;
const LISTS = { scope: "browser:tabs.read", flag: "browserControl" } as const;
const OPENS = { scope: "browser:tabs.create", flag: "browserControl" } as const;

/** What there is to do. Whatever is done in a tab that the page has opened takes what opening one takes. */
const ACTS = {
  ...{ readability: READS, getElement: READS, waitForSelector: READS },
  ...{ click: ACTS_IN, fill: ACTS_IN, select: ACTS_IN, scroll: ACTS_IN },
  ...{ screenshot: SEES, navigate: LEADS, waitForNavigation: LEADS },
  ...{ tabsList: LISTS, tabsGet: LISTS, tabsCreate: OPENS, tabsClose: OPENS, getHtml: OPENS, waitForLoad: OPENS },
} as const satisfies { [act: string]: { scope: BrowserScope; flag: BrowserFlag } };
export type Act = keyof typeof ACTS;

/** Only in tabs that the page has opened. */
const OF_OPENED: readonly Act[] = ["tabsGet", "tabsClose", "getHtml", "waitForLoad"];
/** In the page's own tab only, or in none. */
const OF_NONE: readonly Act[] = ["tabsList", "tabsCreate"];

/** `tabId`: in a tab that the page has opened. */
export type BrowserWish = { tabId?: number } & InTab;

type InTab =
  | { act: "readability" | "screenshot" | "getHtml" | "waitForLoad" | "tabsList" | "tabsGet" | "tabsClose" }
  | { act: "navigate" | "tabsCreate"; url: string }
  | { act: "getElement"; selector: string }
  | { act: "waitForSelector"; selector: string; timeout: number }
  | { act: "waitForNavigation"; timeout: number }
  | { act: "click"; selector: string; button: "left" | "right" | "middle"; doubleClick: boolean }
  | { act: "fill"; selector: string; value: string }
  | { act: "select"; selector: string; values: string[] }
  | { act: "scroll"; selector?: string; x: number; y: number; to?: "top" | "bottom" };

export const MAX_SELECTOR = 2_000;
const MAX_URL = 8_192;
const MAX_VALUE = 100_000;
const MAX_VALUES = 64;

/** How long an element or a navigation is waited for, in milliseconds: where a page says nothing, and at most. */
const WAIT_MS = 10_000;
const MAX_WAIT_MS = 30_000;

/** What it takes to do this; the switches are all needed. A picture is one in whichever tab. */
export function neededFor({ act, tabId }: { act: Act; tabId?: unknown }): { scope: BrowserScope; flags: BrowserFlag[] } {
  const own = ACTS[act];
  if (tabId === undefined || OF_OPENED.includes(act)) return { scope: own.scope, flags: [own.flag] };
  return { scope: OPENS.scope, flags: act === "screenshot" ? [OPENS.flag, own.flag] : [OPENS.flag] };
}

/** Whether there is such an act. */
export const isAct = (value: unknown): value is Act => typeof value === "string" && Object.hasOwn(ACTS, value);

/** An act, as it came from the page; what this gives is read again by the next one on the way. Throws ERR_INVALID_REQUEST. */
export function parseBrowser(fields: Fields): BrowserWish {
  const { act, tabId } = fields;
  if (!isAct(act)) throw new CodedError("ERR_INVALID_REQUEST", "agent.browser has no such function");
  const isNamed = OF_OPENED.includes(act) || (tabId !== undefined && !OF_NONE.includes(act));
  if (isNamed && !isTabId(tabId)) throw wrong("tabId", "the id of a tab, as tabs.create() gives it");
  return { ...(isNamed ? { tabId: tabId as number } : {}), ...parseAct(act, fields) };
}

const isTabId = (value: unknown): boolean => typeof value === "number" && Number.isSafeInteger(value) && value >= 0;

function parseAct(act: Act, fields: Fields): InTab {
  switch (act) {
    case "navigate":
    case "tabsCreate":
      return { act, url: textIn(fields, "url", 1, MAX_URL) };
    case "readability":
    case "screenshot":
    case "getHtml":
    case "waitForLoad":
    case "tabsList":
    case "tabsGet":
    case "tabsClose":
      return { act };
    case "getElement":
      return { act, selector: selectorIn(fields) };
    case "waitForSelector":
      return { act, selector: selectorIn(fields), timeout: timeoutIn(fields) };
    case "waitForNavigation":
      return { act, timeout: timeoutIn(fields) };
    case "click":
      return { act, selector: selectorIn(fields), button: oneOf(fields, "button", ["left", "right", "middle"]) ?? "left", doubleClick: isOn(fields, "doubleClick") };
    case "fill":
      return { act, selector: selectorIn(fields), value: textIn(fields, "value", 0, MAX_VALUE) };
    case "select":
      return { act, selector: selectorIn(fields), values: valuesIn(fields) };
    case "scroll": {
      const to = oneOf(fields, "to", ["top", "bottom"]);
      const selector = fields["selector"] === undefined ? {} : { selector: selectorIn(fields) };
      return { act, ...selector, x: numberIn(fields, "x"), y: numberIn(fields, "y"), ...(to === undefined ? {} : { to }) };
    }
  }
}

const selectorIn = (fields: Fields): string => textIn(fields, "selector", 1, MAX_SELECTOR);

function textIn(fields: Fields, name: string, least: number, most: number): string {
  const value = fields[name];
  if (typeof value !== "string" || value.length < least || value.length > most) throw wrong(name, `a text of ${least} to ${most} characters`);
  return value;
}

function valuesIn({ values }: Fields): string[] {
  const all: unknown = typeof values === "string" ? [values] : values;
  const isFine = Array.isArray(all) && all.length > 0 && all.length <= MAX_VALUES && all.every((one) => typeof one === "string" && one.length <= MAX_SELECTOR);
  if (!isFine) throw wrong("values", `a text, or 1 to ${MAX_VALUES} of them, of at most ${MAX_SELECTOR} characters each`);
  return [...(all as string[])];
}

function timeoutIn({ timeout }: Fields): number {
  if (timeout === undefined) return WAIT_MS;
  if (typeof timeout !== "number" || !(timeout >= 0 && timeout <= MAX_WAIT_MS)) throw wrong("timeout", `a number of milliseconds up to ${MAX_WAIT_MS}`);
  return timeout;
}

/** How far; 0 where nothing is said. */
function numberIn(fields: Fields, name: string): number {
  const value = fields[name] ?? 0;
  if (typeof value !== "number" || !Number.isFinite(value) || Math.abs(value) > 1e7) throw wrong(name, "a number of pixels");
  return value;
}

function isOn(fields: Fields, name: string): boolean {
  const value = fields[name] ?? false;
  if (typeof value !== "boolean") throw wrong(name, "true or false");
  return value;
}

function oneOf<T extends string>(fields: Fields, name: string, known: readonly T[]): T | undefined {
  const value = fields[name];
  if (value === undefined) return undefined;
  const found = known.find((one) => one === value);
  if (found === undefined) throw wrong(name, `one of ${known.join(", ")}`);
  return found;
}

function wrong(field: string, expected: string): CodedError {
  return new CodedError("ERR_INVALID_REQUEST", `${field} must be ${expected}`);
}
