// The samples in the text of docs/page-api.md and docs/page-models.md: each runs as it stands, with the extensions and with the mock.
//
// Only the server's name is another one: a double stands for it.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { Page } from "../driver/browser.ts";
import { addDouble } from "../driver/double.ts";
import { mocked } from "../driver/mocked.ts";
import { became, modelPage, withEcho } from "../driver/models.ts";
import { type World, inBrowsers } from "../driver/world.ts";

const SAMPLES = ["page-api", "page-models"].flatMap((name) => {
  const text = readFileSync(join(__ROOT__, `../docs/${name}.md`), "utf8");
  return [...text.matchAll(/^```js\n([^]*?)^```$/gm)].map(([, sample = ""]) => sample.replaceAll("time/get_current_time", "t/life").replaceAll("time/*", "t/*"));
});

/** Runs all of them; what they have shown. */
async function run(page: Page): Promise<string> {
  assert.ok(SAMPLES.length >= 5, String(SAMPLES.length));
  for (const sample of SAMPLES) {
    const { name, message } = await became(page, `window.output ??= document.body.appendChild(document.createElement("output"));
      const { LanguageModel } = harbor;
      const list = output;
      { ${sample} }`);
    assert.equal(name, undefined, `${message}: ${sample}`);
  }
  return (await page.run("return output.textContent")) as string;
}

const SHOWN = /How deep is a harbor\?.*Hello/s;

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("with Harbor", () =>
      inBrowser.run((world: World) =>
        withEcho(world, async () => {
          await addDouble(world.harbor);
          for (const scope of ["mcp:tools.call", "model:tools"]) await world.harbor.cli("grant", world.site.origin, scope, "--always");
          assert.match(await run(await modelPage(world, world.site.origin)), SHOWN);
        }),
      ));

    test("with the mock", () =>
      inBrowser.run(
        async (world: World) => {
          const page = await modelPage(world, world.site.origin, false);
          await page.run("harborMock.answer({ clicks: false })");
          await page.run("await agent.requestPermissions({ scopes: ['model:prompt'] })");
          assert.match(await run(page), SHOWN);
        },
        { page: (path) => mocked(path === "/" ? "/chat.html" : path), alone: "bare" },
      ));
  });
}
