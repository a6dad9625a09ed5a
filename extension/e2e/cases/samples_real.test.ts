// The sample pages with the real model of the tests, and with a real server: what it says is right whatever it is, so this looks at
// structure alone. One browser for all pages: a person's day.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { textOf } from "../driver/browser.ts";
import { RealModel } from "../driver/real_model.ts";
import { allow, done, sample, send } from "../driver/samples.ts";
import { type World, inBrowsers } from "../driver/world.ts";

/** So small a model may say one thing over and over: an answer of more tokens is cut off. */
const TERSE = ["--predict", "120"];

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("the sample pages with a real model", (t) =>
      inBrowser.run(
        async (world: World) => {
          const { browser, harbor, site } = world;
          const real = await RealModel.start(harbor, TERSE);
          if (real === undefined) return;
          try {
            await t.test("the chat box streams two answers, the second of which counts more", async () => {
              const page = await browser.open(`${site.url}chat.html`);
              await send(page, "Hello");
              await allow(world);
              assert.equal(await done(page), "");
              const tokens = async () => Number.parseInt(await textOf(page, "#state"), 10);
              const first = await tokens();
              await send(page, "And now?");
              assert.equal(await done(page), "");
              const lines = (await page.run("return [...document.querySelectorAll('#said li')].map((one) => one.textContent)")) as string[];
              assert.deepEqual([lines.length, lines[0], lines[2], lines.every((line) => line !== "")], [4, "Hello", "And now?", true]);
              assert.ok(first > 0 && (await tokens()) > first);
            });

            await t.test("the list that listens answers, and lists what the model has called for", async () => {
              const page = await browser.open(`${site.url}tools.html`);
              await send(page, "milk");
              assert.equal(await done(page), "");
              assert.ok(await textOf(page, "#answer"));
              assert.equal(await page.run("return [...document.querySelectorAll('#list li')].every((one) => one.textContent !== '')"), true);
            });

            await t.test("a message becomes an appointment, in the form of the schema", async () => {
              const page = await browser.open(`${site.url}structured.html`);
              await send(page, "Lunch on Friday");
              assert.equal(await done(page), "");
              const names = (await page.run("return [...document.querySelectorAll('#found dt')].map((one) => one.textContent)")) as string[];
              assert.deepEqual(names.filter((name) => name !== "where"), ["what", "when"]);
            });

            await t.test("a task is done with a real server, and ends with an answer", async () => {
              // A call that only reads: the person is not asked about it again.
              await harbor.add("memory", "@modelcontextprotocol/server-memory", "dist/index.js");
              const page = await browser.open(`${site.url}run.html?tool=memory/read_graph`);
              await send(page, "What do you remember?");
              const question = await allow(world);
              assert.ok(question.includes("using 1 of your tools"), question);
              assert.equal(await done(page), "");
              assert.ok(await textOf(page, "#answer"));
              const steps = (await page.run("return [...document.querySelectorAll('#steps li')].map((one) => one.textContent)")) as string[];
              const called = steps.filter((step) => step.startsWith("calls memory/read_graph {"));
              assert.equal(steps.filter((step) => /^memory\/read_graph(:| failed:) /.test(step)).length, called.length);
              assert.equal(steps.length, 2 * called.length);
            });
          } finally {
            await real.end();
          }
        },
        { page: sample },
      ));
  });
}
