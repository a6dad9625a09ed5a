// What a page may ask, and how often: one question a click, for what is there, and no longer than a server takes to answer.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { tick } from "../driver/asking.ts";
import { type Browser, type Page, textOf, until } from "../driver/browser.ts";
import { type World, inBrowsers } from "../driver/world.ts";
import type { Settled } from "./way.test.ts";

/** From `hold` to `tell` it does not say which tools it has. */
const SLOW = `
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
const tools = ["b", "hold", "tell"].map((name) => ({ name, description: "A slow one", inputSchema: { type: "object" } }));
let held;
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") say({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: { listChanged: true } }, serverInfo: { name: "slow", version: "1" } } });
  if (method === "tools/list" && held === undefined) say({ id, result: { tools } });
  if (method === "tools/list" && held !== undefined) held.push(id);
  if (method !== "tools/call") return;
  if (params.name === "hold") held = [];
  if (params.name === "hold") say({ method: "notifications/tools/list_changed" });
  if (params.name === "tell") for (const id of held.splice(0)) say({ id, result: { tools } });
  if (params.name === "tell") held = undefined;
  say({ id, result: { content: [] } });
});
`;

const noWindow = (browser: Browser) => until("no window", async () => (await browser.count("consent.html")) === 0 || undefined);
const asked = async (page: Page) => (await page.run("return window.asked")) as Settled;

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("one click opens one question; a page that takes it back has to wait", () =>
      inBrowser.run(async ({ browser, site }: World) => {
        const page = await browser.open(site.url);
        await page.click("#ask");
        const consent = await browser.find("consent.html");
        await textOf(consent, "#origin");
        const codes = (await page.run(`
          const all = await Promise.all(Array.from({ length: 20 }, () => shown(agent.requestPermissions(wish))));
          return all.map(({ code }) => code)`)) as string[];
        assert.deepEqual([...new Set(codes)], ["ERR_USER_GESTURE_REQUIRED"]);
        // It takes the question back, by leaving.
        await page.goto(site.url);
        await noWindow(browser);
        await page.click("#ask");
        const again = await asked(page);
        assert.deepEqual([again.code, /ten seconds/.test(again.message ?? "")], ["ERR_PERMISSION_DENIED", true], again.message);
        assert.equal(await browser.count("consent.html"), 0);
      }));

    test("names that a site has made up are no tools, and are never granted", () =>
      inBrowser.run(async ({ browser, site, harbor }: World) => {
        await harbor.everything();
        const page = await browser.open(site.url);
        const names = ["everything/echo", "everything/Harbor has checked this site. Press Always allow.", "Verified-by-Harbor/This site is trusted"];
        await page.run("wish.tools = ['everything/echo', 'everything/x/*']");
        await page.click("#ask");
        assert.equal((await asked(page)).code, "ERR_INVALID_REQUEST");
        await page.run("wish.tools = ['Verified-by-Harbor/This site is trusted']");
        await page.click("#ask");
        const gone = await asked(page);
        assert.deepEqual([gone.code, /Verified-by-Harbor.* Install the server first/.test(gone.message ?? "")], ["ERR_TOOL_NOT_FOUND", true], gone.message);
        assert.equal(await browser.count("consent.html"), 0);
        await page.run(`wish.tools = ${JSON.stringify(names)}`);
        await page.click("#ask");
        const consent = await browser.find("consent.html");
        await textOf(consent, "#origin");
        const tools = await consent.run("return [...document.querySelectorAll('.tool')].map((tool) => tool.querySelector('label').textContent)");
        assert.deepEqual(tools, ["echo"]);
        assert.match(await textOf(consent, ".strange"), /^The site also asks for names that .+ does not have: “Harbor has checked this site/);
        assert.match(await textOf(consent, "#missing"), /^The site also asks for Verified-by-Harbor, which is not installed here\. Install it first/);
        await tick(consent);
        await consent.click("#always");
        const { value } = await asked(page);
        assert.deepEqual([value.granted, value.allowedTools], [false, ["everything/echo"]]);
        const { grants } = JSON.parse(await harbor.cli("grants", "--json")) as { grants: { allowed_tools: string[] }[] };
        assert.deepEqual([...new Set(grants.flatMap((grant) => grant.allowed_tools))], ["everything/echo"]);
      }));

    test("a server that says nothing does not delay the question; what it says later comes in, and nothing moves", () =>
      inBrowser.run(async ({ browser, site, harbor }: World) => {
        await harbor.everything();
        const program = join(harbor.dir, "slow.cjs");
        await writeFile(program, SLOW);
        await harbor.cli("add", "slow", "--auto-start", "--", "node", program);
        const page = await browser.open(site.url);
        await page.run("wish.tools = ['everything/echo', 'slow/b', 'slow/made up']; return shown(agent.permissions.list())");
        await harbor.cli("call", "slow/hold");
        await page.click("#ask");
        const consent = await browser.find("consent.html");
        await textOf(consent, "#origin");
        assert.match(await textOf(consent, "#servers"), /It has not said yet which tools it has: these names are the site's/);
        await tick(consent, ["slow/b"]);
        const places = "return JSON.stringify(['origin', 'deny', 'once', 'always'].map((id) => document.getElementById(id).getBoundingClientRect()))";
        const before = await consent.run(places);
        await until("Allow", async () => (await consent.run("return !document.querySelector('#always').disabled")) || undefined);
        await consent.run(`new MutationObserver(() => { window.inert ??= document.querySelector("#always").disabled; })
          .observe(document.querySelector("#servers"), { childList: true, subtree: true })`);
        await harbor.cli("call", "slow/tell");
        assert.match(await textOf(consent, ".strange"), /“made up”$/);
        assert.match(await textOf(consent, "#servers"), /The server says: A slow one/);
        assert.deepEqual([await consent.run(places), await consent.run("return window.inert")], [before, true]);
        const checked = await consent.run("return [...document.querySelectorAll('input[data-tool]:checked')].map((box) => box.dataset.tool)");
        assert.deepEqual(checked, ["slow/b"]);
        await consent.click("#always");
        assert.deepEqual((await asked(page)).value.allowedTools, ["slow/b"]);
      }));
  });
}
