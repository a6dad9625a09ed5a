// The sample pages of docs/page-api.md, driven as a person does: by clicks, with the questions that come. Each runs with the extensions and
// with the mock.
//
// The model is an echo: what is shown is what was typed.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "../driver/browser.ts";
import { addDouble } from "../driver/double.ts";
import { Echo } from "../driver/echo.ts";
import { mocked } from "../driver/mocked.ts";
import { allow, sample, send, shows } from "../driver/samples.ts";
import { switchOn } from "../driver/switches.ts";
import { type Options, type World, inBrowsers } from "../driver/world.ts";

/** With what a sample runs. */
interface Way {
  name: string;
  options: Options;
  /** Begins the model, where it is none of the mock's. */
  begin(world: World): Promise<Echo | undefined>;
  /** The person allows what is asked in these words. */
  allowed(world: World, words: string[]): Promise<void>;
}

const WAYS: Way[] = [
  {
    name: "with Harbor",
    options: { page: sample },
    begin: ({ harbor }) => Echo.start(harbor),
    async allowed(world, words) {
      const question = await allow(world);
      for (const word of words) assert.ok(question.includes(word), `${word}: ${question}`);
    },
  },
  // Its person has a script, and shows no question.
  { name: "with the mock", options: { page: mocked, alone: "bare" }, begin: async () => undefined, allowed: async () => undefined },
];

async function opened(world: World, way: Way, name: string): Promise<{ page: Page; echo: Echo | undefined }> {
  const echo = await way.begin(world);
  return { page: await world.browser.open(`${world.site.url}${name}`), echo };
}

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    for (const way of WAYS) {
      test(`${way.name} the chat box streams what the model says, remembers it, and stops`, () =>
        inBrowser.run(async (world: World) => {
          const { page, echo } = await opened(world, way, "chat.html");
          await shows(page, "#state", "downloadable");
          await send(page, "Good morning");
          await way.allowed(world, ["wants to use your language model", "echo", "on this machine", "0 of 50,000 tokens"]);
          await shows(page, "#said li:nth-child(2)", "Good morning");
          await shows(page, "#state", "tokens");
          await send(page, "<roles>");
          await shows(page, "#said li:nth-child(4)", "system user assistant user");
          await send(page, "<hang>");
          await shows(page, "#said li:nth-child(6)", "and");
          await page.click("#stop");
          await shows(page, "#state", "Stopped");
          await echo?.leaving(1);
          await echo?.end();
        }, way.options));

      test(`${way.name} the list that listens has its own function called`, () =>
        inBrowser.run(async (world: World) => {
          const { page, echo } = await opened(world, way, "tools.html");
          await send(page, "<GenerateSimpleToolCalls>");
          await way.allowed(world, []);
          await shows(page, "#list li", "text");
          await shows(page, "#answer", "on the list: text");
          await echo?.end();
        }, way.options));

      test(`${way.name} a message becomes an appointment, in the form of the schema`, () =>
        inBrowser.run(async (world: World) => {
          const { page, echo } = await opened(world, way, "structured.html");
          await send(page, '<say {"what":"lunch","when":"Friday"}>');
          await way.allowed(world, []);
          await shows(page, "#found", "whatlunchwhenFriday");
          if (echo !== undefined) assert.ok(JSON.stringify(echo.asked[0]?.response_format).includes("additionalProperties"));
          await echo?.end();
        }, way.options));

      test(`${way.name} a task is done step by step with the tool that was allowed, and says where its answer comes from`, () =>
        inBrowser.run(async (world: World) => {
          await addDouble(world.harbor);
          const { page, echo } = await opened(world, way, "run.html?tool=t/life");
          await send(page, "<GenerateSimpleToolCalls>");
          await way.allowed(world, ["wants your AI model to work for it", "using 1 of your tools", "life", "on this machine"]);
          await shows(page, "#steps", "calls t/life");
          await shows(page, "#sources", "[1] t/life");
          const [said, answer] = (await page.run("return ['#steps li:nth-child(2)', '#answer'].map((one) => document.querySelector(one).textContent)")) as [string, string];
          assert.ok(answer.includes(said.replace("t/life: ", "")));
          await echo?.end();
        }, way.options));
    }

    test("with the mock the page that reads itself is told what the script says", () =>
      inBrowser.run(async (world: World) => {
        const page = await world.browser.open(`${world.site.url}tabs.html`);
        await page.click("#send");
        await shows(page, "#text", "A page that reads itself");
        await shows(page, "#state", "The password: ERR_PERMISSION_DENIED");
      }, { page: mocked, alone: "bare" }));

    test("the page that reads itself does so once that is switched on and allowed, and its password is left alone", () =>
      inBrowser.run(
        async (world: World) => {
          await switchOn(world.browser, "browserInteraction");
          const page = await world.browser.open(`${world.site.url}tabs.html`);
          await page.click("#send");
          const question = await allow(world);
          for (const words of ["wants Harbor to use tabs for it", "read its own page as you see it", "click, fill in and scroll in its own page"]) assert.ok(question.includes(words), `${words}: ${question}`);
          await shows(page, "#text", "Harbor reads this page");
          await shows(page, "#state", "The password: ERR_PERMISSION_DENIED");
          assert.deepEqual(await page.run("return ['city', 'how', 'word'].map((id) => document.getElementById(id).value)"), ["Ouessant", "by ferry", "never filled in"]);
        },
        { page: sample, mayUsePages: true },
      ));
  });
}
