// Sessions in a browser: who comes back to theirs, and who does not.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { allowed, client } from "../browser/clients.ts";
import { McpClient } from "../driver/mcp_client.ts";
import { type World, inBrowsers } from "../driver/world.ts";

/** The addresses of a client's tabs. */
async function tabsOf(mcp: McpClient): Promise<string[]> {
  const { structured } = await mcp.call("browser_tabs", { action: "list" });
  return structured["tabs"].map(({ url }: { url: string }) => new URL(url).pathname);
}

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("an AI client that comes back goes on in its tabs, and nobody else does", () =>
      inBrowser.run(
        async (world: World) => {
          const { harbor, site } = world;
          const first = await client(world, "again");
          await first.call("browser_navigate", { url: `${site.origin}/begun` });
          const id: string = (await first.call("browser_session", { action: "info" })).structured["id"];
          const back = (name: string) => McpClient.of(harbor, name, "--browser-session", id);
          // Somebody has it.
          const beside = await back("again");
          assert.deepEqual(await tabsOf(beside), []);
          await beside.end();
          await first.end();
          await (await allowed(harbor, "stranger", ["--tool", "browser/*"])).end();
          const stranger = await back("stranger");
          assert.deepEqual(await tabsOf(stranger), []);
          await stranger.end();
          const again = await back("again");
          assert.deepEqual(await tabsOf(again), ["/begun"]);
          assert.match((await again.call("browser_snapshot")).text, /Begun/);
          assert.equal((await again.call("browser_session", { action: "info" })).structured["id"], id);
          await again.end();
        },
        { mayUsePages: true, page: () => ({ html: "<title>Begun</title><h1>Begun</h1>" }) },
      ));
  });
}
