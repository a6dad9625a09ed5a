// What a server asks the person during a call of a turn: a form in the chat, with a real server.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { FITS, serious } from "../driver/axe.ts";
import { say, talking } from "../driver/talking.ts";
import { type World, inBrowsers } from "../driver/world.ts";

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("what a server asks is a form in the chat; an answer and a no reach the server", () =>
      inBrowser.run(async (world: World) => {
        await world.harbor.everything();
        await talking(world, async (panel, echo) => {
          const ask = async () => ({ tool: "trigger-elicitation-request", args: {} });
          echo.script.push(ask, async (told) => `It heard: ${told}`, ask, async (told) => `It heard: ${told}`);
          await say(panel, "let it ask me");
          await panel.click("[data-answer=once]");
          await panel.says(".prompt", /everything.* asks you/s);
          assert.deepEqual([await serious(panel.page), await panel.page.run(FITS)], [[], true]);
          await panel.click(".prompt [type=submit]");
          await panel.says(".prompt .problem:not([hidden])", /./);
          await panel.type("#ask-1-0", "Ada");
          // A choice has the server's words, and its answer the value.
          const hero = "[...document.querySelectorAll('.prompt select')].find((one) => /Superman/.test(one.textContent))";
          await panel.page.run(`const field = ${hero}; field.value = "0"; field.dispatchEvent(new Event("input", { bubbles: true }))`);
          await panel.click(".prompt [type=submit]");
          await panel.says(".conversation .answer .markdown", /It heard:.*Ada.*hero-1/s);
          assert.equal(await panel.count(".prompt"), 0);
          await say(panel, "once more");
          await panel.click("[data-answer=once]");
          await panel.click("[id^=decline-]");
          await panel.says(".conversation li:last-child .markdown", /It heard:.*declined/s);
        });
      }));
  });
}
