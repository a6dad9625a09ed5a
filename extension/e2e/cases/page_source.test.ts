// Tools of a page's own, used by an AI client: once the person has switched them on, for as long as the document is there.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { allowed } from "../browser/clients.ts";
import { serious } from "../driver/axe.ts";
import { type Page, until } from "../driver/browser.ts";
import type { McpClient } from "../driver/mcp_client.ts";
import { Sidebar } from "../driver/sidebar.ts";
import type { Answers } from "../driver/site.ts";
import { type World, inBrowsers } from "../driver/world.ts";

/** A shop with two tools; `stop.abort()` takes the first one away. */
const SHOP = `<!doctype html><title>A shop</title><h1>A shop</h1>
<script type="module">
  window.stop = new AbortController();
  window.ends = [];
  window.calls = [];
  await document.modelContext.registerTool({ name: "add", description: "Adds to the cart", inputSchema: { type: "object", properties: { id: { type: "string" } } },
    execute: ({ id }) => { calls.push([id, navigator.userActivation.isActive]); return { added: id }; } }, { signal: stop.signal });
  await document.modelContext.registerTool({ name: "hang", description: "Waits",
    execute: (_, { signal }) => new Promise(() => { calls.push("hang"); signal.addEventListener("abort", () => ends.push("aborted")); }) });
</script>`;

const PAGES: { [path: string]: string } = {
  "/shop": SHOP,
  "/plain": "<!doctype html><title>Plain</title><p>Nothing here.",
  "/login": `${SHOP.replace("A shop", "Sign in")}<input type=password>`,
};
const site: Answers = (path) => ({ html: PAGES[path] ?? "<!doctype html>" });
const WITH = { page: site, mayUsePages: true };

/** Clicks in the panel, which is a tab that nobody sees: as a script of it does. */
const press = (panel: Sidebar, selector: string) =>
  until(selector, async () => ((await panel.page.run(`const found = document.querySelector(${JSON.stringify(selector)}); found?.click(); return found !== null`)) as boolean) || undefined);

interface Shop {
  panel: Sidebar;
  page: Page;
  client: McpClient;
  /** What the bridge calls the source. */
  source: string;
  /** Waits until the source has these tools, or is not there, and gives the client's names of them. */
  sees(...tools: string[]): Promise<string[]>;
}

/** A panel beside the shop, and a client that was granted the site's tools. */
async function withShop(world: World, work: (shop: Shop) => Promise<void>): Promise<void> {
  const source = `page:${new URL(world.site.origin).host}`;
  const panel = await Sidebar.open(world.browser, "chat");
  const client = await allowed(world.harbor, "shopper", ["--tool", `${source}/*`]);
  try {
    const page = await world.browser.open(`${world.site.origin}/shop`);
    const sees = async (...tools: string[]) => {
      await until(`the tools ${tools.join()}`, async () => {
        const all = await world.harbor.cli("tools", source).catch(() => "");
        return ["add", "hang"].every((tool) => new RegExp(`\\b${tool}\\b`).test(all) === tools.includes(tool)) || undefined;
      });
      const names = (await client.tools()).map(({ name }) => name).filter((name) => ["add", "hang"].includes(name)).sort();
      assert.deepEqual(names, tools);
      return names;
    };
    await work({ panel, page, client, source, sees });
  } finally {
    await client.end();
  }
}

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("switched on in the panel, a page's tools are there for a client, which gets the page's own answer and no gesture", () =>
      inBrowser.run((world: World) =>
        withShop(world, async ({ panel, page, client, source, sees }) => {
          await panel.says("#page-tools", /Let the chat and AI apps use this page's tools \(2\)/);
          await sees();
          // A person's click: nothing of it may reach the page.
          await panel.click("#page-tools-switch");
          await panel.says("#page-tools[data-on=true] .why", new RegExp(`This page is ${source} until it goes`));
          assert.deepEqual(await serious(panel.page), []);
          const [add = ""] = await sees("add", "hang");
          const { text, structured, isError } = await client.call(add, { id: "red" });
          assert.deepEqual([JSON.parse(text), structured, isError], [{ added: "red" }, { added: "red" }, false]);
          assert.deepEqual(await page.run("return [calls, navigator.userActivation.hasBeenActive]"), [[["red", false]], false]);
          // The page takes one away.
          await page.run("stop.abort()");
          await sees("hang");
          await panel.says("#page-tools", /\(1\)/);
        }), WITH));

    test("they end with their document, which a call under way hears, and come back with the next one of the site", () =>
      inBrowser.run((world: World) =>
        withShop(world, async ({ panel, page, client, sees }) => {
          await press(panel, "#page-tools-switch");
          const [, hang = ""] = await sees("add", "hang");
          const call = client.call(hang);
          await until("the call", async () => ((await page.run("return calls.length")) as number) === 1 || undefined);
          await page.goto(`${world.site.origin}/plain`);
          assert.equal((await call.catch(() => ({ isError: true }))).isError, true);
          await sees();
          await page.goto(`${world.site.origin}/shop`);
          await sees("add", "hang");
          await page.close();
          await sees();
        }), WITH));

    test("switched off they are gone, and what is still on is offered by a background that begins anew, and to a bridge that does", () =>
      inBrowser.run((world: World) =>
        withShop(world, async ({ panel, page, sees }) => {
          await press(panel, "#page-tools-switch");
          await sees("add", "hang");
          await world.browser.endBackgrounds(page);
          await sees("add", "hang");
          // A new bridge knows of no page.
          await world.harbor.cli("shutdown");
          await sees("add", "hang");
          await press(panel, "#page-tools-switch[aria-checked=true]");
          await sees();
          await panel.says("#page-tools[data-on=false]", /\(2\)/);
        }), WITH));

    test("a page with a password field has no such switch, and takes its tools back when it gets one", () =>
      inBrowser.run((world: World) =>
        withShop(world, async ({ panel, page, client, sees }) => {
          await press(panel, "#page-tools-switch");
          const [add = ""] = await sees("add", "hang");
          await page.run(`document.body.append(Object.assign(document.createElement("input"), { type: "password" }))`);
          assert.equal((await client.call(add, { id: "red" }).catch(() => ({ isError: true }))).isError, true);
          assert.deepEqual(await page.run("return calls"), []);
          await sees();
          await world.browser.open(`${world.site.origin}/login`);
          await panel.says("#page", /Sign in/);
          await panel.gone("#page-tools");
        }), WITH));
  });
}
