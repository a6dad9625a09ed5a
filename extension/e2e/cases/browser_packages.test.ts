// Pages with widgets of real packages, in tabs that nobody looks at.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { agentOf, client } from "../browser/clients.ts";
import { PACKAGE_TASKS, packageScripts } from "../browser/packages.ts";
import { until } from "../driver/browser.ts";
import { type World, inBrowsers } from "../driver/world.ts";

const scripts = await packageScripts();

const answers = (path: string) => {
  const script = scripts.get(path);
  if (script !== undefined) return { html: script, headers: { "content-type": "text/javascript" } };
  const task = PACKAGE_TASKS[Number(/^\/package\/(\d+)/.exec(path)?.[1])];
  return { html: `<!doctype html><meta charset=utf-8>${task?.page ?? "<title>Person</title>"}` };
};

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("an AI client uses the widgets of packages", (t) =>
      inBrowser.run(
        async (world: World) => {
          const { browser, site } = world;
          await browser.open(`${site.origin}/person`);
          const mcp = await client(world, "widgets");
          try {
            const agent = agentOf(mcp, site.origin);
            for (const [number, task] of PACKAGE_TASKS.entries()) {
              if (task.not?.[inBrowser.name] !== undefined) continue;
              await t.test(task.name, async () => {
                await agent.do("navigate", { url: `${site.origin}/package/${number}` });
                const page = await browser.find(`/package/${number}`);
                await until("the widget", async () => (await page.run("return window.model !== undefined")) || undefined);
                await task.run(agent);
                assert.equal(await page.run(`return Boolean(${task.is})`), true, `${task.is}: ${await page.run("return window.model()")}`);
              });
            }
          } finally {
            await mcp.end();
          }
        },
        { mayUsePages: true, page: answers },
      ));
  });
}
