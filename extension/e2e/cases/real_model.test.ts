// The whole way to a real model: what it says is right whatever it is, so this looks at structure alone.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { modelPage } from "../driver/models.ts";
import { RealModel } from "../driver/real_model.ts";
import { type World, inBrowsers } from "../driver/world.ts";

/** From the abort to a server that works on nothing: long before the story would have been told. How soon it is on a quiet machine is the bench's to say. */
const IDLE_MS = 10_000;

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("a real model answers, streams, fills in a form, counts, and stops when nobody reads on", () =>
      inBrowser.run(async (world: World) => {
        const real = await RealModel.start(world.harbor);
        if (real === undefined) return;
        try {
          const page = await modelPage(world, world.site.origin);
          const found = (await page.run(`
            const s = await LM.create({ initialPrompts: [{ role: "system", content: "Answer in five words." }] });
            const counted = await s.measureContextUsage("How deep is a harbor?");
            const text = await s.prompt("How deep is a harbor?");
            const pieces = await read(s.promptStreaming("And the sea?"));
            const schema = { type: "object", properties: { deep: { type: "boolean" } }, required: ["deep"], additionalProperties: false };
            const form = JSON.parse(await (await LM.create()).prompt("Is the sea deep?", { responseConstraint: schema }));
            return [counted > 3, typeof text, text.length > 0, pieces.length > 0, typeof form.deep, s.contextUsage > counted, s.contextWindow]`)) as unknown[];
          assert.deepEqual(found.slice(0, 6), [true, "string", true, true, "boolean", true]);
          const aborted = (await page.run(`
            const controller = new AbortController();
            let at = 0;
            const s = await LM.create();
            await read(s.promptStreaming("Tell a very long story of the sea, of many pages."), () => { at = Date.now(); s.destroy(); }).catch(() => {});
            return at`)) as number;
          const idle = (await real.idle()) - aborted;
          assert.ok(idle <= IDLE_MS, `${idle} ms`);
        } finally {
          await real.end();
        }
      }));
  });
}
