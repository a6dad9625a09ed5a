// What comes and goes by the sidebar: the catalog, installations, servers of one's own, secrets, signing in, removals.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import { until } from "../driver/browser.ts";
import { startRegistry, startRemote } from "../driver/elsewhere.ts";
import type { Harbor } from "../driver/harbor.ts";
import { npmRepository } from "../driver/repository.ts";
import { Sidebar } from "../driver/sidebar.ts";
import { writeToolsServer } from "../driver/tools_server.ts";
import { type World, inBrowsers } from "../driver/world.ts";
import type { Settled } from "./way.test.ts";

const NO_SOURCES = '[catalog]\nregistryUrl = ""\nawesomeUrl = ""\ngithubApiUrl = ""\n';

/** A repository to install from; its source. */
async function weather(harbor: Harbor): Promise<string> {
  const program = await readFile(await writeToolsServer(harbor), "utf8");
  return npmRepository(harbor, "weather-mcp", program, { description: "Says how the weather will be." });
}

async function servers(harbor: Harbor): Promise<{ [name: string]: any }[]> {
  return JSON.parse(await harbor.cli("list", "--json")).servers;
}

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("the catalog is searched as one types, and shown page by page", async () => {
      const registry = await startRegistry([...Array.from({ length: 30 }, (_, at) => `com.example/quux-${at}`), "com.example/owl"]);
      try {
        await inBrowser.run(
          async ({ browser, harbor }: World) => {
            await harbor.cli("catalog", "refresh");
            const sidebar = await Sidebar.open(browser, "add");
            await sidebar.says("#found", /servers in the catalog/);
            await sidebar.type("#query", "quu");
            await sidebar.says("#found", /^30 found/);
            assert.equal(await sidebar.count(".entries li"), 20);
            await sidebar.click("#more");
            await sidebar.gone("#more");
            assert.equal(await sidebar.count(".entries li"), 30);
            await sidebar.type("#query", "owl");
            await sidebar.says("#found", /^1 found/);
            assert.match(await sidebar.text(".entries"), /What com.example\/owl says of itself <b>/);
            await sidebar.click("[data-entry]");
            await sidebar.says("#view", /listed by registry \(a listing does not mean trust\).*npm:com.example\/owl/s);
            await sidebar.click("#back");
            await sidebar.says("#found", /^1 found/);
          },
          { config: registry.config },
        );
      } finally {
        await registry.end();
      }
    });

    test("an installation is shown before the yes, done, leads to its tools, and is there for a site that may use it; what it cannot find is said", () =>
      inBrowser.run(
        async ({ browser, harbor, site }: World) => {
          const source = await weather(harbor);
          const sidebar = await Sidebar.open(browser, "add");
          await sidebar.click(".others summary");
          await sidebar.type("#source", source);
          await sidebar.click("#look-up");
          await sidebar.says("#view", /package.json.* at [0-9a-f]{40}/s);
          await sidebar.type("#as", "rain");
          await sidebar.click("#plan");
          await sidebar.says("#view", /This will be installed.*Serverrain.*weather-mcp.*MayCan: use the internet/s);
          assert.deepEqual(await servers(harbor), []);
          await sidebar.click("#install");
          await sidebar.says(".notice", /rain is installed.*It has 4 tools/s);
          await sidebar.says("#runs", /Starts automatically when used/);
          await sidebar.click("#installed");
          await sidebar.says(".rows.tools", /forecast/);
          assert.equal((await servers(harbor))[0]?.["server_id"], "rain");

          for (const scope of ["mcp:tools.list", "mcp:tools.call"]) await harbor.cli("grant", site.origin, scope, "--always", "--tool", "rain/*");
          const page = await browser.open(site.url);
          const listed = (await page.run("return shown(agent.tools.list())")) as Settled;
          assert.ok(listed.value?.some((tool: { name: string }) => tool.name === "rain/forecast"), JSON.stringify(listed));
          const called = (await page.run("return shown(agent.tools.call({ tool: 'rain/forecast', args: { city: 'Bergen' } }))")) as Settled;
          assert.match(called.value?.content[0].text ?? called.message, /Bergen/);
          await sidebar.go("server/rain/overview");
          await sidebar.says(".head .state", /^running$/);
          await sidebar.says("#lazy-about", /./);
          await sidebar.press("[role='switch'][aria-checked='true']");
          await sidebar.says("#lazy-about", /only while it runs/);
          assert.equal((await servers(harbor))[0]?.["supervision"].lazy ?? false, false);

          await sidebar.go(`install/${encodeURIComponent(`git:file://${harbor.dir}/nothing`)}`);
          await sidebar.says("[role='alert'] .notice", /nothing/);
        },
        { config: NO_SOURCES },
      ));

    test("a command of one's own waits for its secret, gets it, and is removed with its files", () =>
      inBrowser.run(async ({ browser, harbor }: World) => {
        const program = await writeToolsServer(harbor);
        const sidebar = await Sidebar.open(browser, "new/command");
        await sidebar.type("#name", "weather");
        await sidebar.type("#command", "node");
        await sidebar.type("#args", program);
        await sidebar.type("#secrets", "WEATHER_KEY");
        await sidebar.click("#add-server");
        await sidebar.says(".notice", /Set WEATHER_KEY/);
        await sidebar.go("servers");
        await sidebar.says("#server-list .words", /Set WEATHER_KEY/);
        await sidebar.click("#server-list .words a");
        // Where it is said that the key is missing it is typed, and that starts the server.
        await sidebar.type("[id='key WEATHER_KEY']", "s3cret");
        await sidebar.click("#save-keys");
        await sidebar.says(".head .state", /^running$/);
        await sidebar.go("server/weather/secrets");
        await sidebar.says("[data-secret]", /WEATHER_KEY · set/);
        assert.equal(await sidebar.page.run("return document.documentElement.outerHTML.includes('s3cret') || [...document.querySelectorAll('input')].some((one) => one.value !== '')"), false);

        await sidebar.go("new/command");
        await sidebar.type("#name", "weather");
        await sidebar.type("#command", "node");
        await sidebar.click("#add-server");
        await sidebar.says("[role='alert'] .notice", /a server named weather exists already/i);

        await sidebar.go("server/weather/secrets");
        await sidebar.click("[aria-label='Delete WEATHER_KEY']");
        await sidebar.says("[data-secret]", /not set/);
        await sidebar.go("server/weather/overview");
        await sidebar.click("#remove");
        await sidebar.click("#keep");
        await sidebar.click("#remove");
        await sidebar.click("#remove-data");
        await sidebar.click("#remove-yes");
        await sidebar.says("#view", /No servers yet/);
        await sidebar.says("#said", /^weather is removed$/);
        assert.deepEqual(await servers(harbor), []);
      }));

    test("what a README says to paste fills in the form, without the key in it; a word that no list has is looked up", () =>
      inBrowser.run(
        async ({ browser, harbor }: World) => {
          const program = await writeToolsServer(harbor);
          const sidebar = await Sidebar.open(browser, "new/command");
          const value = (selector: string) => sidebar.page.run(`return document.querySelector(${JSON.stringify(selector)}).value`);
          await sidebar.type("#paste", "npx 'x");
          await sidebar.says("#paste-problem", /quote is not closed/);
          await sidebar.type("#paste", JSON.stringify({ mcpServers: { rain: { command: "node", args: [program], env: { MODE: "a", RAIN_TOKEN: "s3cret" } } } }));
          await sidebar.says("#pasted", /Next you type the value of RAIN_TOKEN/);
          assert.deepEqual([await value("#paste"), await value("#name"), await value("#command"), await value("#args"), await value("#env"), await value("#secrets")], ["", "rain", "node", program, "MODE=a", "RAIN_TOKEN"]);
          assert.equal(await sidebar.page.run("return document.documentElement.outerHTML.includes('s3cret')"), false);
          await sidebar.click("#add-server");
          await sidebar.says(".notice", /Set RAIN_TOKEN/);
          await sidebar.go("add");
          await sidebar.type("#query", "postgres");
          await sidebar.says("[data-look='pypi']", /Look up “postgres” at PyPI/);
        },
        { config: NO_SOURCES },
      ));

    test("what cannot be had is said with what to do; adding can be cancelled, and going back keeps what was typed", () =>
      inBrowser.run(
        async ({ browser, harbor }: World) => {
          const value = (selector: string) => sidebar.page.run(`return document.querySelector(${JSON.stringify(selector)}).value`);
          const sidebar = await Sidebar.open(browser, "install/thinking");
          await sidebar.click("#search-for");
          await sidebar.says("#found", /found/);
          assert.equal(await value("#query"), "thinking");

          await sidebar.go("new/remote");
          await sidebar.type("#url", "http://elsewhere.example/mcp");
          await sidebar.type("#name", "far");
          await sidebar.type("#key", "Bearer k");
          await sidebar.click("#add-server");
          await sidebar.says("#view", /has no TLS.*harbor add far --url http:\/\/elsewhere.example\/mcp --allow-http/s);
          assert.equal(await value("#key"), "Bearer k");

          await sidebar.go("new/command");
          await sidebar.type("#name", "slow");
          await sidebar.type("#command", "node");
          await sidebar.type("#args", "-e\nsetInterval(() => undefined, 1000)");
          await sidebar.click("#add-server");
          await until("the server", async () => ((await servers(harbor)).length === 1 ? true : undefined));
          await sidebar.click("#cancel");
          await sidebar.says("#said", /^slow was not added$/);
          assert.equal(await value("#command"), "node");
          assert.deepEqual(await servers(harbor), []);

          await sidebar.go(`install/${encodeURIComponent(await weather(harbor))}`);
          await sidebar.type("#as", "rain");
          await sidebar.click("#plan");
          await sidebar.click("#unplan");
          await until("the form", async () => ((await sidebar.count("#as")) === 1 ? true : undefined));
          assert.equal(await value("#as"), "rain");
        },
        { config: NO_SOURCES },
      ));

    test("a remote server is added; one that wants a person to sign in has them do it", () =>
      inBrowser.run(async ({ browser, harbor }: World) => {
        const [open, closed] = [await startRemote(false), await startRemote(true)];
        try {
          const sidebar = await Sidebar.open(browser, "new/remote");
          await sidebar.type("#url", open.url);
          await sidebar.type("#name", "open");
          await sidebar.click("#add-server");
          await sidebar.says(".head .state", /^running$/);
          await sidebar.go("new/remote");
          await sidebar.type("#url", closed.url);
          await sidebar.type("#name", "closed");
          await sidebar.click("#add-server");
          await sidebar.says(".notice", /Sign in to use it/);
          await sidebar.click("#sign-in");
          await sidebar.says(".head .state", /^running$/);
          await sidebar.go("server/closed/secrets");
          await sidebar.says("#view", /Signed in.*Harbor mayread/s);
          await until("the page of the signing in", async () => ((await browser.count("127.0.0.1")) > 0 ? true : undefined));
          await sidebar.click("#sign-out");
          await sidebar.says("#view", /You are not signed in|Sign in to this server/);
          assert.deepEqual((await servers(harbor)).map((server) => server["server_id"]), ["closed", "open"]);
        } finally {
          await open.end();
          await closed.end();
        }
      }));

    test("who does not sign in after all, in the sidebar or where they are asked, can begin again", () =>
      inBrowser.run(async ({ browser }: World) => {
        const remote = await startRemote(true);
        try {
          const sidebar = await Sidebar.open(browser, "new/remote");
          await sidebar.type("#url", remote.url);
          await sidebar.type("#name", "far");
          await sidebar.click("#add-server");
          await sidebar.says(".notice", /Sign in to use it/);
          await sidebar.go("server/far/secrets");
          remote.person = "waits";
          await sidebar.click("#sign-in");
          await sidebar.says("#view", /A page is open: sign in there/);
          const asking = await browser.find("/authorize");
          // What the panel says of the page beside it comes and goes with that page: all below moves, also what is to be clicked.
          await sidebar.says("#site", /127\.0\.0\.1/);
          await sidebar.click("#cancel");
          await sidebar.gone("#cancel");
          assert.deepEqual([await sidebar.count("#sign-in"), await sidebar.count("[role='alert'] .notice")], [1, 0]);
          await asking.close();
          await sidebar.says("#site", /^$/);

          remote.person = "refuses";
          await sidebar.click("#sign-in");
          await sidebar.says("[role='alert'] .notice", /Try again.*says that you refused/s);
          assert.deepEqual([await sidebar.count("#cancel"), await sidebar.count("#sign-in")], [0, 1]);
          await sidebar.says("#site", /127\.0\.0\.1/);

          remote.person = "allows";
          await sidebar.click("#sign-in");
          await sidebar.says(".head .state", /^running$/);
          await sidebar.says("#view", /Signed in.*Harbor mayread/s);
          assert.equal(await sidebar.count("[role='alert'] .notice"), 0);
        } finally {
          await remote.end();
        }
      }));
  });
}
