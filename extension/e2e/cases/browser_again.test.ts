// Sessions in a browser: who comes back to theirs, and who does not.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { allowed, client, switchOn } from "../browser/clients.ts";
import { until } from "../driver/browser.ts";
import { McpClient } from "../driver/mcp_client.ts";
import { hostsOf } from "../driver/native_hosts.ts";
import { type World, inBrowsers } from "../driver/world.ts";

/** The addresses of a client's tabs. */
async function tabsOf(mcp: McpClient): Promise<string[]> {
  const { structured } = await mcp.call("browser_tabs", { action: "list" });
  return structured["tabs"].map(({ url }: { url: string }) => new URL(url).pathname);
}

/** How often the background starts anew. */
const TIMES = 20;

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("however often the background starts anew, one native host is left", () =>
      inBrowser.run(
        async (world: World) => {
          const { browser, harbor } = world;
          const panel = await switchOn(world);
          assert.equal((await hostsOf(harbor)).length, 1);
          for (let time = 0; time < TIMES; time += 1) {
            const before = await hostsOf(harbor);
            await browser.endBackgrounds(panel);
            await panel.run("location.reload(); return true").catch(() => true);
            // The new one is another one, and alone.
            await until("one native host", async () => {
              const now = await hostsOf(harbor);
              return (now.length === 1 && now[0] !== before[0]) || undefined;
            });
          }
          await until("the tools", async () => (await harbor.cli("tools", "browser").catch(() => "")).includes("browser_snapshot") || undefined);
          const { bridge } = JSON.parse(await harbor.cli("status", "--json"));
          assert.equal(bridge.clients.extension, 1);
        },
        { mayUsePages: true },
      ));

    test("an AI client works in one session in all its connections, comes back to it, and nobody else does", () =>
      inBrowser.run(
        async (world: World) => {
          const { harbor, site } = world;
          const first = await client(world, "again");
          await first.call("browser_navigate", { url: `${site.origin}/begun` });
          const id: string = (await first.call("browser_session", { action: "info" })).structured["id"];
          const back = (name: string) => McpClient.of(harbor, name, "--browser-session", id);
          // Another process of the same client is the same client, whether it names the session or not.
          const beside = await McpClient.of(harbor, "again");
          assert.deepEqual(await tabsOf(beside), ["/begun"]);
          // What it has open in one tab holds up nothing that looks at another one.
          const opened = await beside.call("browser_tabs", { action: "new", url: `${site.origin}/other` });
          const other: number = opened.structured["page"].tab_id;
          // These take all that it may do at once.
          const waiting = [first, beside].map((mcp) => mcp.call("browser_wait_for", { text: "this never comes", timeout: 5, tabId: other }));
          const [own] = (await first.call("browser_tabs", { action: "list" })).structured["tabs"];
          for (const mcp of [first, beside]) assert.match((await mcp.call("browser_snapshot", { tabId: own.tab_id })).text, /Begun/);
          for (const { isError } of await Promise.all(waiting)) assert.ok(isError);
          await beside.call("browser_close", { tabId: other });
          await first.end();
          // The other one is still there.
          assert.deepEqual(await tabsOf(beside), ["/begun"]);
          await beside.end();
          await (await allowed(harbor, "stranger", ["--tool", "browser/*"])).end();
          const stranger = await back("stranger");
          assert.deepEqual(await tabsOf(stranger), []);
          await stranger.end();
          // Without its id the client begins anew once all its connections have ended.
          const anew = await McpClient.of(harbor, "again");
          assert.deepEqual(await tabsOf(anew), []);
          await anew.end();
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
