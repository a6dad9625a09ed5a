// What a page may ask of tabs: read once, and read again, it is the same.

import assert from "node:assert/strict";
import { test } from "node:test";
import { MAX_SELECTOR, neededFor, parseBrowser } from "./in_tabs.ts";

test("what is asked of tabs is read alike by each one on its way, with nothing besides", () => {
  const forged = { origin: "https://bank.example", tab: 9, scope: "x", modifiers: ["Control"] };
  const wishes = [
    ...[{ act: "readability" }, { act: "screenshot" }, { act: "tabsList" }, { act: "tabsCreate", url: "https://a.example/" }, { act: "navigate", url: "x" }],
    ...[{ act: "readability", tabId: 7 }, { act: "getHtml", tabId: 7 }, { act: "waitForLoad", tabId: 0 }, { act: "tabsGet", tabId: 7 }, { act: "tabsClose", tabId: 7 }],
    ...[{ act: "click", selector: "#a", button: "right", doubleClick: true }, { act: "fill", selector: "#a", value: "" }, { act: "select", selector: "#a", values: ["x", ""] }],
    ...[{ act: "scroll", x: 0, y: -3 }, { act: "scroll", selector: "#a", x: 0, y: 0, to: "top" }, { act: "waitForSelector", selector: "p", timeout: 0 }, { act: "waitForNavigation", timeout: 9, tabId: 7 }],
  ];
  for (const wish of wishes) assert.deepEqual(parseBrowser({ ...parseBrowser({ ...wish, ...forged }) }), wish);
  assert.deepEqual(parseBrowser({ act: "click", selector: "a" }), { act: "click", selector: "a", button: "left", doubleClick: false });
  assert.deepEqual(parseBrowser({ act: "select", selector: "a", values: "x" }), { act: "select", selector: "a", values: ["x"] });
});

test("what is no act, of another type or too large is refused", () => {
  const long = "x".repeat(MAX_SELECTOR + 1);
  const wrong: { [name: string]: unknown }[] = [
    ...[{}, { act: "toString" }, { act: 7 }, { act: ["click"] }, { act: "click" }, { act: "click", selector: "" }, { act: "click", selector: long }, { act: "click", selector: { toString: () => "#a" } }],
    ...[{ act: "click", selector: "a", button: "4" }, { act: "click", selector: "a", doubleClick: "yes" }, { act: "fill", selector: "a" }, { act: "fill", selector: "a", value: 7 }, { act: "fill", selector: "a", value: "x".repeat(100_001) }],
    ...[{ act: "select", selector: "a", values: [] }, { act: "select", selector: "a", values: [7] }, { act: "select", selector: "a", values: Array(65).fill("x") }, { act: "select", selector: "a", values: { length: 1, 0: "x" } }],
    ...[{ act: "scroll", x: Number.NaN }, { act: "scroll", y: Infinity }, { act: "scroll", to: "left" }, { act: "waitForSelector", selector: "a", timeout: -1 }, { act: "waitForSelector", selector: "a", timeout: 30_001 }, { act: "waitForNavigation", timeout: "1" }],
    ...[{ act: "tabsGet" }, { act: "tabsClose", tabId: null }, { act: "readability", tabId: null }, { act: "readability", tabId: "7" }, { act: "readability", tabId: 1.5 }, { act: "getHtml", tabId: -1 }],
    ...[{ act: "navigate" }, { act: "tabsCreate", url: "" }, { act: "tabsCreate", url: `https://a.example/${"x".repeat(8_200)}` }],
  ];
  for (const one of wrong) assert.throws(() => parseBrowser(one), { code: "ERR_INVALID_REQUEST" }, JSON.stringify(one)?.slice(0, 80));
});

test("what is done in opened tabs takes what opening them takes, and a picture its own switch besides", () => {
  assert.deepEqual(neededFor({ act: "click" }), { scope: "browser:activeTab.interact", flags: ["browserInteraction"] });
  assert.deepEqual(neededFor({ act: "click", tabId: 7 }), { scope: "browser:tabs.create", flags: ["browserControl"] });
  assert.deepEqual(neededFor({ act: "screenshot", tabId: 7 }), { scope: "browser:tabs.create", flags: ["browserControl", "screenshots"] });
  assert.deepEqual(neededFor({ act: "tabsGet", tabId: 7 }), { scope: "browser:tabs.read", flags: ["browserControl"] });
  assert.deepEqual(neededFor({ act: "navigate" }), { scope: "browser:navigate", flags: ["browserControl"] });
});
