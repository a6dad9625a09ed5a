// A page that has taken over its own process, or asks for what no program could read.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ChromiumPage } from "../driver/chromium.ts";
import { type World, inBrowsers } from "../driver/world.ts";
import type { Settled } from "./way.test.ts";

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("arguments that are nested too deep are refused with a sentence, and half a letter is no name", () =>
      inBrowser.run(async ({ browser, site, harbor }: World) => {
        await harbor.everything();
        await harbor.cli("grant", site.origin, "mcp:tools.call", "--always");
        const page = await browser.open(site.url);
        const args = (depth: number) => `'{"message":' + "[".repeat(${depth}) + "]".repeat(${depth}) + "}"`;
        const call = (depth: number) => page.run(`return shown(agent.tools.call({ tool: "everything/echo", args: JSON.parse(${args(depth)}) }))`) as Promise<Settled>;
        const refused = await call(100_000);
        assert.equal(refused.code, "ERR_INVALID_REQUEST", refused.message);
        assert.match(refused.message ?? "", /nested|deep/);
        // That goes to the server, who wants a text.
        const went = await call(900);
        assert.equal(went.value?.isError, true, JSON.stringify(went));
        const half = (await page.run(`return shown(agent.tools.call({ tool: ${JSON.stringify("everything/\ud800")} }))`)) as Settled;
        assert.deepEqual([half.code, /^tool must be a name/.test(half.message ?? "")], ["ERR_INVALID_REQUEST", true], half.message);
      }));

    // Firefox has no such switch.
    if (inBrowser.name !== "chrome") return;
    test("who has taken over a page's process reads and writes nothing that the extension keeps", () =>
      inBrowser.run(async ({ browser, site }: World) => {
        const page = (await browser.open(site.url)) as ChromiumPage;
        assert.ok(((await page.run("return shown(agent.permissions.list())")) as Settled).value);
        const extension = browser.apiUrl("").replace(/\/$/, "");
        for (const area of ["local", "session"]) {
          const tried = (await page.runInWorldOf(extension, `
            const area = chrome.storage.${area};
            const settled = (promise) => promise.then(() => "done", (error) => error.message);
            return [await settled(area.get(null)), await settled(area.set({ flags: { toolAccess: false, toolCalling: false } }))];`)) as string[];
          for (const one of tried) assert.match(one, /Access to storage is not allowed/, area);
        }
        // Options are as they were, and the extension's own pages may use them.
        const { value } = (await page.run("return shown(agent.capabilities())")) as Settled;
        assert.deepEqual([value.features.toolAccess, value.features.toolCalling], [true, true]);
      }));
  });
}
