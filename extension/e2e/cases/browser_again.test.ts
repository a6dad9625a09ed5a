// Sessions in a browser: who comes back to theirs, and who does not.

import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { describe, test } from "node:test";
import { allowed, client, switchOn } from "../browser/clients.ts";
import { until } from "../driver/browser.ts";
import type { Harbor } from "../driver/harbor.ts";
import { McpClient } from "../driver/mcp_client.ts";
import { type World, inBrowsers } from "../driver/world.ts";

/** The addresses of a client's tabs. */
async function tabsOf(mcp: McpClient): Promise<string[]> {
  const { structured } = await mcp.call("browser_tabs", { action: "list" });
  return structured["tabs"].map(({ url }: { url: string }) => new URL(url).pathname);
}

/** The native hosts of this Harbor that run: a browser starts each with the place of its manifest, or the id of an extension. */
async function hostsOf({ dir }: Harbor): Promise<string[]> {
  const all = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const isHost = async (pid: string) => {
    const read = (file: string) => readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "");
    return /harbor-bridge\0(chrome-extension:|[^\0]*\.json\0)/.test(await read("cmdline")) && (await read("environ")).includes(dir);
  };
  const are = await Promise.all(all.map(isHost));
  return all.filter((_, at) => are[at]);
}

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("however often the background starts anew, one native host is left", () =>
      inBrowser.run(
        async (world: World) => {
          const { browser, harbor } = world;
          const panel = await switchOn(world);
          assert.equal((await hostsOf(harbor)).length, 1);
          for (let time = 0; time < 5; time += 1) {
            const before = await hostsOf(harbor);
            await browser.endBackgrounds(panel);
            await panel.run("location.reload(); return true").catch(() => true);
            // The new one is another one, and alone.
            await until("one native host", async () => {
              const now = await hostsOf(harbor);
              return (now.length === 1 && now[0] !== before[0]) || undefined;
            });
            await until("the tools", async () => (await harbor.cli("tools", "browser").catch(() => "")).includes("browser_snapshot") || undefined);
          }
        },
        { mayUsePages: true },
      ));

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
