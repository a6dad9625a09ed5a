// What the person decides for single calls and single clients: tools that may destroy something, and the servers of an AI client.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { switchOn } from "../browser/clients.ts";
import { textOf, until } from "../driver/browser.ts";
import { allowed } from "../driver/double.ts";
import { McpClient } from "../driver/mcp_client.ts";
import { Sidebar } from "../driver/sidebar.ts";
import { writeToolsServer } from "../driver/tools_server.ts";
import { type World, inBrowsers } from "../driver/world.ts";

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("a page's call of a tool that may destroy something is asked about, each time", () =>
      inBrowser.run(async (world: World) => {
        const { browser, harbor } = world;
        const page = await allowed(world);
        await harbor.cli("set", "t", "--destroys", "life");
        await page.run("window.shown = (promise) => promise.then((value) => ({ value }), ({ code }) => ({ code }))");
        const begin = () => page.run("window.called = shown(agent.tools.call({ tool: 't/life', args: { of: 'mine' } }))");
        for (const [button, code] of [["#once", undefined], ["#deny", "ERR_PERMISSION_DENIED"]] as const) {
          await begin();
          const consent = await browser.find("consent.html");
          assert.match(await textOf(consent, "#wish"), /t\/life/);
          assert.match(await textOf(consent, ".call"), /it may delete or overwrite something/);
          assert.match(await textOf(consent, ".args"), /of\s*mine/);
          await consent.click(button);
          assert.equal(((await page.run("return window.called")) as { code?: string }).code, code);
          await until("the window to close", async () => (await browser.count("consent.html")) === 0 || undefined);
        }
        // Other tools go by the grant.
        assert.equal(((await page.run("return shown(agent.tools.call({ tool: 't/cancelled', args: {} }))")) as { code?: string }).code, undefined);
        const noted = (await harbor.cli("audit", "--json")).split("\n").filter((line) => line.includes("t/life") && line.includes("consent"));
        assert.equal(noted.length, 2);
      }));

    test("a question is counted and answered in the panel, too: its window goes, and the call is made", () =>
      inBrowser.run(async (world: World) => {
        const { browser, harbor } = world;
        const page = await allowed(world);
        await harbor.cli("set", "t", "--destroys", "life");
        const sidebar = await Sidebar.open(browser, "questions");
        await sidebar.says("#view", /Nothing waits for you/);
        const mark = () => sidebar.page.run("return chrome.action.getBadgeText({})");
        await page.run(`window.called = agent.tools.call({ tool: 't/life', args: { of: 'mine', note: 'x'.repeat(9000) } }).then(() => "made", ({ code }) => code)`);
        const consent = await browser.find("consent.html");
        assert.match(await textOf(consent, ".args"), /Only its beginning: it has 9,000 bytes in all\. Show all/);
        await consent.click("[data-whole]");
        assert.match(await textOf(consent, ".whole"), /"note": "x{9000}"/);
        await sidebar.says("#tabs", /Access1 waiting/);
        await until("the mark", async () => ((await mark()) === "1" ? true : undefined));
        await sidebar.says("[data-question]", /wants to call t\/lifeYou are asked because it may delete or overwrite something/);
        await until("a second of calm", async () => ((await sidebar.count("[data-answer=once]:not([aria-disabled])")) === 1 ? true : undefined));
        await sidebar.click("[data-answer=once]");
        await until("the window to close", async () => (await browser.count("consent.html")) === 0 || undefined);
        assert.equal(await page.run("return window.called"), "made");
        await sidebar.says("#view", /Nothing waits for you/);
        await until("no mark", async () => ((await mark()) === "" ? true : undefined));
      }));

    test("an AI client that was not given the browser uses it after one yes", () =>
      inBrowser.run(
        async (world: World) => {
          const { browser, harbor, site } = world;
          await switchOn(world);
          const mcp = await McpClient.of(harbor, "newcomer");
          const tools = await mcp.tools();
          assert.ok(tools.some(({ name }) => name === "browser_navigate"), "it is listed");
          const called = mcp.call("browser_navigate", { url: `${site.origin}/first` });
          const consent = await browser.find("consent.html");
          assert.equal(await textOf(consent, "#origin"), "newcomer (an AI app)");
          assert.match(await textOf(consent, "#means"), /You have not let this app use browser yet/);
          await consent.click("#always");
          assert.match((await called).text, /first/);
          assert.equal((await mcp.call("browser_tabs", { action: "list" })).isError, false, "nothing is asked any more");
          await mcp.end();
        },
        { mayUsePages: true, page: (path) => ({ html: `<title>${path}</title><h1>This is ${path}</h1>` }) },
      ));

    test("a single tool is switched off for one AI client: it keeps the others, and gets none that comes later", () =>
      inBrowser.run(async ({ browser, harbor }: World) => {
        await harbor.cli("add", "w", "--", "node", await writeToolsServer(harbor));
        for (const scope of ["mcp:tools.list", "mcp:tools.call"]) await harbor.cli("grant", "client://editor", scope, "--always");
        const sidebar = await Sidebar.open(browser, `site/${encodeURIComponent("client://editor")}`);
        await sidebar.says("[data-switch='w'] + .soft", /^all 4 tools$/);
        await sidebar.click("[data-singles='w']");
        await sidebar.click("[data-switch='w/map']");
        await sidebar.says("[data-switch='w'] + .soft", /^3 of 4 tools$/);
        const { grants } = JSON.parse(await harbor.cli("grants", "client://editor", "--json")) as { grants: { scope: string; allowed_tools?: string[] }[] };
        assert.deepEqual(grants.find(({ scope }) => scope === "mcp:tools.call")?.allowed_tools, ["w/forecast", "w/measure", "w/report"]);
      }));

    test("a server is switched off and on for one AI client", () =>
      inBrowser.run(async (world: World) => {
        const { browser, harbor } = world;
        await harbor.cli("add", "a", "--", "true").catch(() => undefined);
        await harbor.cli("add", "b", "--", "true").catch(() => undefined);
        for (const name of ["editor", "other"]) {
          for (const scope of ["mcp:tools.list", "mcp:tools.call"]) await harbor.cli("grant", `client://${name}`, scope, "--always");
        }
        const tools = async (name: string) => {
          const { grants } = JSON.parse(await harbor.cli("grants", `client://${name}`, "--json")) as { grants: { scope: string; allowed_tools?: string[] }[] };
          return grants.map(({ scope, allowed_tools }) => [scope, allowed_tools]).sort();
        };
        const both = (list: string[] | undefined) => [["mcp:tools.call", list], ["mcp:tools.list", list]];
        const sidebar = await Sidebar.open(browser, "sites");
        await sidebar.says("[data-origin='client://editor']", /editorall tools/);
        await sidebar.click("[data-origin='client://editor'] a");
        const isOn = (server: string, on: boolean) => until(`${server} to be ${on}`, async () => ((await sidebar.count(`[data-switch='${server}'][aria-checked='${on}']`)) === 1 ? true : undefined));
        await isOn("a", true);
        await sidebar.click("[data-switch='a']");
        await isOn("a", false);
        await isOn("b", true);
        // To see tools is narrowed after to use them.
        const holds = (list: string[]) => until(`${list.join()} to hold`, async () => (isDeepStrictEqual(await tools("editor"), both(list)) ? true : undefined));
        await holds(["b/*"]);
        assert.deepEqual(await tools("other"), both(undefined));
        await sidebar.click("[data-switch='a']");
        await isOn("a", true);
        await holds(["a/*", "b/*"]);
        // What a client has of a browser is taken from it in the same way.
        for (const scope of ["mcp:tools.list", "mcp:tools.call"]) await harbor.cli("grant", "client://editor", scope, "--always", "--tool", "a/*", "--tool", "browser/*");
        await isOn("browser", true);
        await sidebar.click("[data-switch='browser']");
        await sidebar.gone("[data-switch='browser']");
        await holds(["a/*"]);
      }));
  });
}
