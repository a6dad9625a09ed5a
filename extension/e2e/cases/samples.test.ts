// The sample pages of docs/page-api.md, driven as a person does: by clicks, with the questions that come.
//
// The model is an echo: what is shown is what was typed.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "../driver/browser.ts";
import { addDouble } from "../driver/double.ts";
import { Echo } from "../driver/echo.ts";
import { allow, sample, send, shows } from "../driver/samples.ts";
import { type World, inBrowsers } from "../driver/world.ts";

async function opened(world: World, name: string): Promise<{ page: Page; echo: Echo }> {
  const echo = await Echo.start(world.harbor);
  return { page: await world.browser.open(`${world.site.url}${name}`), echo };
}

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("the chat box streams what the model says, remembers it, and stops", () =>
      inBrowser.run(
        async (world: World) => {
          const { page, echo } = await opened(world, "chat.html");
          await shows(page, "#state", "downloadable");
          await send(page, "Good morning");
          const question = await allow(world);
          for (const words of ["wants to use your language model", "echo", "on this machine", "0 of 50,000 tokens"]) assert.ok(question.includes(words), `${words}: ${question}`);
          await shows(page, "#said li:nth-child(2)", "Good morning");
          await shows(page, "#state", "tokens");
          await send(page, "<roles>");
          await shows(page, "#said li:nth-child(4)", "system user assistant user");
          await send(page, "<hang>");
          await shows(page, "#said li:nth-child(6)", "and");
          await page.click("#stop");
          await shows(page, "#state", "Stopped");
          await echo.leaving(1);
          await echo.end();
        },
        { page: sample },
      ));

    test("the list that listens has its own function called", () =>
      inBrowser.run(
        async (world: World) => {
          const { page, echo } = await opened(world, "tools.html");
          await send(page, "<GenerateSimpleToolCalls>");
          await allow(world);
          await shows(page, "#list li", "text");
          await shows(page, "#answer", "on the list: text");
          await echo.end();
        },
        { page: sample },
      ));

    test("a message becomes an appointment, in the form of the schema", () =>
      inBrowser.run(
        async (world: World) => {
          const { page, echo } = await opened(world, "structured.html");
          await send(page, '<say {"what":"lunch","when":"Friday"}>');
          await allow(world);
          await shows(page, "#found", "whatlunchwhenFriday");
          assert.ok(JSON.stringify(echo.asked[0]?.response_format).includes("additionalProperties"));
          await echo.end();
        },
        { page: sample },
      ));

    test("a task is done step by step with the tool that was allowed, and says where its answer comes from", () =>
      inBrowser.run(
        async (world: World) => {
          await addDouble(world.harbor);
          const { page, echo } = await opened(world, "run.html?tool=t/life");
          await send(page, "<GenerateSimpleToolCalls>");
          const question = await allow(world);
          for (const words of ["wants your AI model to work for it", "using 1 of your tools", "life", "on this machine"]) assert.ok(question.includes(words), `${words}: ${question}`);
          await shows(page, "#steps", "calls t/life");
          await shows(page, "#sources", "[1] t/life");
          const [said, answer] = (await page.run("return ['#steps li:nth-child(2)', '#answer'].map((one) => document.querySelector(one).textContent)")) as [string, string];
          assert.ok(answer.includes(said.replace("t/life: ", "")));
          await echo.end();
        },
        { page: sample },
      ));
  });
}
