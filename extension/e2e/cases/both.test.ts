// Chromium and Firefox at once on one bridge: the same servers, grants of their own for once.

import assert from "node:assert/strict";
import { test } from "node:test";
import { askAndAllow } from "../driver/asking.ts";
import type { Page } from "../driver/browser.ts";
import { inBrowsers, register, start } from "../driver/world.ts";
import type { Settled } from "./way.test.ts";

/** A call of each of three real servers. */
const CALLS = [
  ["everything/get-sum", "{ a: 20, b: 22 }", /42/],
  ["memory/read_graph", "{}", /entities/],
  ["thinking/sequentialthinking", "{ thought: 'x', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 }", /thoughtNumber/],
] as const;

async function callAll(page: Page): Promise<void> {
  for (const [tool, args, expected] of CALLS) {
    const { value, message } = (await page.run(`return shown(agent.tools.call({ tool: '${tool}', args: ${args} }))`)) as Settled;
    assert.match(value?.content[0].text ?? message, expected, tool);
  }
}

// One test for both, wherever both are wanted.
for (const inChromium of inBrowsers.filter(({ name }) => name === "chrome" && inBrowsers.length === 2)) {
  test("two browsers use three servers of one bridge", () =>
    inChromium.run(async ({ browser: chromium, site, harbor }) => {
      await harbor.everything();
      await harbor.add("memory", "@modelcontextprotocol/server-memory", "dist/index.js");
      await harbor.add("thinking", "@modelcontextprotocol/server-sequential-thinking", "dist/index.js");
      await register("firefox", harbor);
      const firefox = await start("firefox", harbor);
      try {
        const [one, two] = [await chromium.open(site.url), await firefox.open(site.url)];
        await askAndAllow(chromium, one);
        const before = (await two.run("return shown(agent.tools.list())")) as Settled;
        assert.equal(before.code, "ERR_SCOPE_REQUIRED");
        await askAndAllow(firefox, two);
        await Promise.all([callAll(one), callAll(two)]);
        const { servers } = JSON.parse(await harbor.cli("status", "--json"));
        assert.deepEqual(servers.map((server: { state: string }) => server.state), ["running", "running", "running"]);
      } finally {
        await firefox.close();
      }
    }));
}
