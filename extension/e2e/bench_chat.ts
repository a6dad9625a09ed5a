// How fast the chat in the panel is, in Chromium: first words, keys while a model writes, first paint, and what a long chat weighs.
//
// Owns these figures. Must never report one of an answer in which something is missing.

import assert from "node:assert/strict";
import { join } from "node:path";
import { MOST_AT_FIRST, bytesAtFirst } from "../build/first_load.mjs";
import { ChromiumPage } from "./driver/chromium.ts";
import { until } from "./driver/browser.ts";
import { Echo } from "./driver/echo.ts";
import { Harbor } from "./driver/harbor.ts";
import { Sidebar } from "./driver/sidebar.ts";
import { importChat, say } from "./driver/talking.ts";
import { register, start } from "./driver/world.ts";

const TIMES = 10;
const MESSAGES = 1_000;

const median = (numbers: number[]): number => numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? Number.NaN;

/** Resolves in the page with how long after the provider said it the last answer's first words were drawn. */
const FIRST_WORDS = `
  return new Promise((resolve) => {
    const look = () => {
      const [, at] = /^\\s*0@(\\d+)/.exec([...document.querySelectorAll(".conversation li.answer .markdown")].at(-1)?.textContent ?? "") ?? [];
      if (at === undefined || window.measured === at) return;
      window.measured = at;
      observer.disconnect();
      requestAnimationFrame(() => setTimeout(() => resolve(Date.now() - Number(at))));
    };
    const observer = new MutationObserver(look);
    observer.observe(document.body, { childList: true, subtree: true, characterData: true });
    look();
  });`;

/** Resolves in the page with how long each of 20 keys took to be drawn, in ms. */
const KEYS = `
  const field = document.querySelector("#say-text");
  const took = [];
  for (let at = 0; at < 20; at += 1) {
    const begun = performance.now();
    field.value += "k";
    field.dispatchEvent(new Event("input", { bubbles: true }));
    await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)));
    took.push(performance.now() - begun);
    await new Promise((later) => setTimeout(later, 30));
  }
  return took;`;

const PAINT = `return performance.getEntriesByType("paint").find(({ name }) => name === "first-contentful-paint")?.startTime ?? null`;

/** The table of the record. */
export async function chatFigures(): Promise<string> {
  const harbor = await Harbor.make();
  await register("chrome", harbor);
  const browser = await start("chrome", harbor);
  const echo = await Echo.start(harbor);
  try {
    const panel = await Sidebar.open(browser, "chat");
    await panel.says("#model-menu summary", /echo/);
    const first: number[] = [];
    for (let at = 0; at < TIMES; at += 1) {
      const seen = panel.page.run(FIRST_WORDS);
      await say(panel, "<rate 2 1>");
      first.push((await seen) as number);
      await panel.says(".usage", /tokens/);
      await panel.text("#send");
    }
    await say(panel, "<rate 200 4>");
    await panel.says(".conversation li.answer:last-child .markdown", /20@/);
    const keys = (await panel.page.run(KEYS)) as number[];
    await panel.text("#send");
    const paints: number[] = [];
    for (let at = 0; at < TIMES; at += 1) {
      const opened = await Sidebar.open(browser, "chat");
      await until("the field of a chat", async () => (await opened.count("#say-text")) === 1 || undefined);
      paints.push(((await opened.page.run(PAINT)) as number | null) ?? Number.NaN);
      await opened.page.close();
    }
    const [empty, long] = [await heapOf(await Sidebar.open(browser, "more")), await longChat(await Sidebar.open(browser, "chats"))];
    return [
      "| the chat in the panel (Chromium) | measured | asked for |",
      "|---|---|---|",
      `| first words at the screen after the provider's, median of ${TIMES} | ${median(first)} ms | ≤ 100 ms |`,
      `| a key while a model writes 200 pieces a second, median and longest of ${keys.length} | ${median(keys).toFixed(0)}, ${Math.max(...keys).toFixed(0)} ms | ≤ 50 ms |`,
      `| first paint, median of ${TIMES} | ${median(paints).toFixed(0)} ms | ≤ 150 ms |`,
      `| heap with ${MESSAGES} messages beyond that of an empty panel | ${((long - empty) / 1e6).toFixed(1)} MB | ≤ 80 MB |`,
      `| files of the panel that are loaded at first | ${((await bytesAtFirst(join(__ROOT__, "dist", "harbor-chrome"), "sidebar.html")) / 1000).toFixed(0)} kB | ≤ ${MOST_AT_FIRST / 1000} kB |`,
    ].join("\n");
  } finally {
    await browser.close();
    await echo.end();
    await harbor.end();
  }
}

async function heapOf({ page }: Sidebar): Promise<number> {
  assert.ok(page instanceof ChromiumPage);
  return page.heap();
}

async function longChat(panel: Sidebar): Promise<number> {
  const text = `A message with **words**, a [link](https://example.org) and \`code\`.\n\n- one\n- two\n\n${"word ".repeat(100)}`;
  await importChat(panel, Array.from({ length: MESSAGES }, (_, at) => `${at} ${text}`));
  await panel.says(".conversation", /999 A message/);
  return heapOf(panel);
}
