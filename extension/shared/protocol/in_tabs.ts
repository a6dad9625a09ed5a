// What a page may have Harbor do in its own tab, and in tabs that it has opened: `agent.browser`.
//
// Pure. Owns the names of these acts, which scope and which switch each takes, and how they are read. Must never let a field through
// that was not looked at.

import type { Fields } from "../ports/wire.ts";
import { CodedError } from "./codes.ts";

/** What a page can be allowed in tabs. */
export const BROWSER_SCOPES = ["browser:activeTab.read", "browser:activeTab.interact", "browser:activeTab.screenshot"] as const;
export type BrowserScope = (typeof BROWSER_SCOPES)[number];

/** Switches of these, off until the person says otherwise. */
export const BROWSER_FLAGS = ["browserInteraction", "screenshots"] as const;
export type BrowserFlag = (typeof BROWSER_FLAGS)[number];

const READS = { scope: "browser:activeTab.read", flag: "browserInteraction" } as const;
const ACTS_IN = { scope: "browser:activeTab.interact", flag: "browserInteraction" } as const;

const SEES = { scope: "browser:activeTab.screenshot", flag: "screenshots" } as const;

/** What there is to do. */
const ACTS = {
  ...{ readability: READS, getElement: READS, waitForSelector: READS },
  ...{ click: ACTS_IN, fill: ACTS_IN, select: ACTS_IN, scroll: ACTS_IN },
  screenshot: SEES,
} as const satisfies { [act: string]: { scope: BrowserScope; flag: BrowserFlag } };
export type Act = keyof typeof ACTS;

export type BrowserWish =
  | { act: "readability" | "screenshot" }
  | { act: "getElement"; selector: string }
  | { act: "waitForSelector"; selector: string; timeout: number }
  | { act: "click"; selector: string; button: "left" | "right" | "middle"; doubleClick: boolean }
  | { act: "fill"; selector: string; value: string }
  | { act: "select"; selector: string; values: string[] }
  | { act: "scroll"; selector?: string; x: number; y: number; to?: "top" | "bottom" };

export const MAX_SELECTOR = 2_000;
const MAX_VALUE = 100_000;
const MAX_VALUES = 64;

/** How long an element is waited for, in milliseconds: where a page says nothing, and at most. */
const WAIT_MS = 10_000;
const MAX_WAIT_MS = 30_000;

/** What it takes to do this. */
export function neededFor({ act }: Pick<BrowserWish, "act">): { scope: BrowserScope; flag: BrowserFlag } {
  return ACTS[act];
}

/** Whether there is such an act. */
export const isAct = (value: unknown): value is Act => typeof value === "string" && Object.hasOwn(ACTS, value);

/** An act, as it came from the page; what this gives is read again by the next one on the way. Throws ERR_INVALID_REQUEST. */
export function parseBrowser(fields: Fields): BrowserWish {
  const { act } = fields;
  if (!isAct(act)) throw new CodedError("ERR_INVALID_REQUEST", "agent.browser has no such function");
  switch (act) {
    case "readability":
    case "screenshot":
      return { act };
    case "getElement":
      return { act, selector: selectorIn(fields) };
    case "waitForSelector":
      return { act, selector: selectorIn(fields), timeout: timeoutIn(fields) };
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
