// The panel with a real model of this machine, from nothing: found, used by one click, asked about a page and about two tabs. What it says
// is right whatever it is, so this looks at structure alone.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { until } from "../driver/browser.ts";
import { LLAMA_PORT, USE_LLAMA, llamaPortIsFree } from "../driver/llama_port.ts";
import { RealModel } from "../driver/real_model.ts";
import { Sidebar } from "../driver/sidebar.ts";
import type { Answers } from "../driver/site.ts";
import { type World, inBrowsers } from "../driver/world.ts";

const PAGES: { [path: string]: string } = {
  "/gulls": "<title>Gulls</title><h1>Gulls</h1><p>Forty-seven gulls live at the lighthouse. They eat fish, and sleep on the roof.</p>",
  "/ferries": "<title>Ferries</title><h1>Ferries</h1><p>The ferry to the lighthouse leaves at nine. It comes back at noon, when the wind allows it.</p>",
};

const site: Answers = (path) => ({ html: `<!doctype html>${PAGES[path] ?? "<title>Nothing</title>"}` });

/** A few words are an answer: it is to be seen that there is one. What a request says of its length would count more than a number here. */
const SHORT = ["--grammar", "root ::= [a-zA-Z0-9 ,.-]{1,60}"];

/** Clicks in the panel, which is a tab that nobody sees: as a script of it does. */
const press = (panel: Sidebar, selector: string) =>
  until(selector, async () => ((await panel.page.run(`const found = document.querySelector(${JSON.stringify(selector)}); found?.click(); return found !== null`)) as boolean) || undefined);

/** Waits until the answer to the message with this number is whole, and says what it is. */
async function answered(panel: Sidebar, number: number): Promise<void> {
  // On a busy machine the question alone takes it a while.
  await until(`words of answer ${number}`, async () => (await panel.count(".conversation li.answer")) === number || undefined);
  await until(`answer ${number}`, async () => (await panel.count(".conversation li.answer .tools")) === number || undefined);
  await panel.text("#send");
  const said = (await panel.page.run("return [...document.querySelectorAll('.conversation li.answer .markdown')].map((one) => one.textContent.trim())")) as string[];
  assert.deepEqual([said.length, said.every((one) => one.length > 0), await panel.count("[data-code]")], [number, true, 0]);
  await panel.says(".usage", /[\d,]+ tokens in.* · [\d,]+ out · llama-server:smollm2/);
}

/** Attaches the tab that a word of its title finds. */
async function attach(panel: Sidebar, word: string, title: RegExp): Promise<void> {
  await panel.page.run(`const field = document.querySelector("#say-text"); field.focus(); field.value = "@${word}"; field.setSelectionRange(99, 99); field.dispatchEvent(new Event("input", { bubbles: true }))`);
  await panel.says("#at-list [role=option][aria-selected=true]", title);
  await panel.page.run(`document.querySelector("#say-text").dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }))`);
  await panel.says(".chips", title);
}

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("a model of this machine is used by one click, sums up the open page, and answers a question about two tabs", (context) =>
      inBrowser.run(
        async ({ browser, site }: World) => {
          if (!(await llamaPortIsFree())) return context.skip(`port ${LLAMA_PORT} is taken`);
          const real = await RealModel.listen(LLAMA_PORT, SHORT);
          if (real === undefined) return context.skip("no server for a model runs on this machine");
          try {
            const panel = await Sidebar.open(browser, "chat");
            await panel.says(".found", /llama-server/);
            await panel.click(USE_LLAMA);
            await panel.says("[data-step='A model'][data-standing=done]", /llama-server:smollm2.*On this machine/);
            await panel.click("[data-later=server]");
            await panel.says("#view h2", /What can I do here/);

            await browser.open(`${site.origin}/gulls`);
            await panel.says("#page", /Gulls/);
            await press(panel, "#summarise");
            await answered(panel, 1);
            assert.match(await panel.text(".conversation li.person .attachment"), /Forty-seven gulls/);

            await browser.open(`${site.origin}/ferries`);
            await attach(panel, "gul", /Gulls/);
            await attach(panel, "fer", /Ferries/);
            await panel.type("#say-text", "When does the ferry leave, and how many gulls are there?");
            await press(panel, "#send");
            await answered(panel, 2);
            const sent = (await panel.page.run("return [...document.querySelectorAll('.conversation li.person:nth-last-child(2) .attachment')].map((one) => one.textContent)")) as string[];
            assert.deepEqual(sent.map((one) => [/Forty-seven gulls/, /leaves at nine/].findIndex((words) => words.test(one))), [0, 1]);
          } finally {
            await real.end();
          }
        },
        { page: site, mayUsePages: true },
      ));
  });
}
