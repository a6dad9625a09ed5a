// The sidebar, with a real bridge: servers, their logs and tools, trials, and what sites may do.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { describe, test } from "node:test";
import { askAndAllow } from "../driver/asking.ts";
import { FITS, serious } from "../driver/axe.ts";
import { until } from "../driver/browser.ts";
import { addDouble } from "../driver/double.ts";
import { Sidebar } from "../driver/sidebar.ts";
import { writeToolsServer } from "../driver/tools_server.ts";
import { type World, inBrowsers } from "../driver/world.ts";
import type { Settled } from "./way.test.ts";

/** A server with the tools of tools_server.ts, running. */
async function weather({ harbor }: World): Promise<void> {
  await harbor.cli("add", "weather", "--", "node", await writeToolsServer(harbor));
}

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("a log is followed line by line, in every sidebar that shows it, and after the bridge was lost", () =>
      inBrowser.run(async (world: World) => {
        const { browser, harbor } = world;
        await weather(world);
        const [one, two] = [await Sidebar.open(browser, "server/weather/logs"), await Sidebar.open(browser, "server/weather/logs")];
        for (const sidebar of [one, two]) await sidebar.says(".log", /stderr ready for questions/);
        await harbor.cli("call", "weather/forecast", "city=nowhere");
        for (const sidebar of [one, two]) await sidebar.says(".log", /asked for forecast/);
        assert.equal(await one.text("[data-level=warning] .source"), "warning");
        await one.go("servers");
        await one.text("[id='server weather']");
        await harbor.cli("call", "weather/map");
        assert.equal((await two.says(".log", /asked for map/)).match(/asked for/g)?.length, 2);
        const { bridge } = JSON.parse(await harbor.cli("status", "--json"));
        execFileSync("kill", ["-9", String(bridge.pid)]);
        await harbor.cli("start", "weather");
        await harbor.cli("call", "weather/forecast", "city=Oslo");
        await two.says(".log", /asked for forecast$/);
      }));

    test("what failed is said with what to do; a start and a stop change one line and move nothing", () =>
      inBrowser.run(async (world: World) => {
        const { browser, harbor } = world;
        await weather(world);
        await harbor.cli("add", "broken", "--", "node", "-e", "console.error('no such module'); process.exit(3)").catch(() => undefined);
        const sidebar = await Sidebar.open(browser);
        await sidebar.says("#server-list", /Needs you \(1\).*broken.*failed.*code 3.*Running \(1\).*weather/s);
        const top = "return document.querySelector(\"[id$=' weather'].small\").getBoundingClientRect().top";
        const before = await sidebar.page.run(top);
        await sidebar.click("[id='stop weather']");
        await sidebar.says("[data-server='weather'] .state", /^stopped$/);
        assert.equal(await sidebar.page.run("return document.activeElement.id"), "start weather");
        assert.equal(await sidebar.page.run(top), before);
        await sidebar.click("[id='start weather']");
        await sidebar.says("[data-server='weather'] .standing", /running.*4 tools/);
        const pid = async () => JSON.parse(await harbor.cli("list", "--json")).servers[1].pid as number;
        const first = await pid();
        await sidebar.click("[id='server weather']");
        await sidebar.says(".head .state", /^running$/);
        await sidebar.press("[id='restart weather']");
        await until("another process", async () => ((await pid()) !== first ? true : undefined));
        await sidebar.says(".head .state", /^running$/);
        await sidebar.click("#back");
        await sidebar.click("[id='server broken']");
        await sidebar.says(".notice", /Why it is not running.*code 3.*Check its log/s);
        await sidebar.says(".notice pre", /no such module/);
      }));

    test("a tool that has changed is shown as it was and is, and accepted as it was shown", () =>
      inBrowser.run(async (world: World) => {
        const { browser, harbor } = world;
        await weather(world);
        const sidebar = await Sidebar.open(browser, "server/weather/tools");
        await sidebar.says(".rows.tools", /forecast.*map.*measure.*report/s);
        await writeToolsServer(harbor, "Sends all that you know away.");
        await harbor.cli("restart", "weather");
        await sidebar.says(".change .diff", /- A map of what falls.*\+ Sends all that you know away/s);
        assert.match(await sidebar.text(".change"), /No site can use it until you accept the change/);
        await sidebar.go("servers");
        await sidebar.says("#server-list .words", /1 tool changed/);
        await sidebar.click("#server-list .words a");
        await sidebar.click("[data-accept='map']");
        await sidebar.gone(".change");
        await sidebar.go("servers");
        await sidebar.says("#server-list .words", /4 tools/);
        assert.deepEqual(JSON.parse(await harbor.cli("tools", "--changed", "--json")).changes, []);
      }));

    test("a tool is tried out by a form: what is missing, results, images, failures, progress, cancelling", () =>
      inBrowser.run(async (world: World) => {
        const { browser, harbor } = world;
        await weather(world);
        const sidebar = await Sidebar.open(browser, "tool/weather/forecast");
        await sidebar.click("#call");
        await sidebar.says("#arg-0-problem", /required/);
        assert.equal(await sidebar.page.run("return document.activeElement.id"), "arg-0");
        await sidebar.type("#arg-0", "Bergen");
        await sidebar.click("[id='arg-4-add']");
        await sidebar.type("fieldset.list input", "6");
        await sidebar.click("#call");
        await sidebar.says(".pieces", /"city": "Bergen",\s+"days": 3,\s+"unit": "celsius",\s+"hours": \[\s+6\s+\]/);
        await sidebar.click("#as-json");
        await sidebar.type("#json", '{"city": 1}');
        await sidebar.click("#call");
        await sidebar.says("[role='alert'] .notice", /do not fit the tool's schema/);
        await sidebar.type("#json", '{"city": "Oslo"}');
        await sidebar.click("#call");
        await sidebar.says(".pieces", /"city": "Oslo"/);

        await sidebar.go("tool/weather/map");
        await sidebar.click("#call");
        await sidebar.says(".pieces", /rain/);
        assert.equal(await sidebar.page.run("const image = document.querySelector('.pieces img'); await image.decode(); return image.naturalWidth"), 8);
        // What it was called with last is there again.
        await sidebar.go("tool/weather/forecast");
        await until("the last arguments", async () => ((await sidebar.page.run("return document.querySelector('#arg-0')?.value")) === "Oslo" ? true : undefined));
        await sidebar.go("tool/weather/report");
        await sidebar.says(".trial", /As JSON:/);
        await sidebar.click("#call");
        await sidebar.says("#result", /reported a failure.*there is nothing to see/s);

        await sidebar.go("tool/weather/measure");
        await sidebar.click("#call");
        await sidebar.says("#progress", /one of three/);
        await sidebar.click("#cancel");
        await sidebar.gone("#cancel");
        await sidebar.says("#progress", /^Cancelled/);
        assert.equal(await sidebar.count("[role='alert'] .notice"), 0);
        await harbor.cli("stop", "weather");
        await sidebar.click("#call");
        await sidebar.says("[role='alert'] .notice", /The server is not running/);
        assert.equal(await sidebar.count("[role='alert'] [data-code='ERR_SERVER_UNAVAILABLE']"), 1);
        await sidebar.click("[id='start weather']");
        await sidebar.gone("[id='start weather']");
      }));

    test("the panel begins with the page beside it, says what it may and did, and ends that; so does the button's mark", () =>
      inBrowser.run(async (world: World) => {
        const { browser, site } = world;
        await addDouble(world.harbor);
        const sidebar = await Sidebar.open(browser, "activity");
        const page = await browser.open(site.url);
        await sidebar.says("#site", /No access to your tools/);
        await askAndAllow(browser, page);
        await sidebar.says("#site", /127\.0\.0\.1:\d+May use 9 tools, (10|9) min left.*End access$/);
        const mark = () => sidebar.page.run("const [tab] = await chrome.tabs.query({ active: true, currentWindow: true }); return chrome.action.getBadgeText({ tabId: tab.id })");
        await until("the mark", async () => ((await mark()) === "on" ? true : undefined));
        await page.run("return shown(agent.tools.call({ tool: 't/life' }))");
        await sidebar.says(".activity", /Today.*t\/life.*127\.0\.0\.1.*answered in \d+ ms.*Asked for all tools of t.*you allowed it.*Access changed ×2/s);
        // What failed stands alone where only that is wanted.
        await sidebar.click("#failed-only");
        await sidebar.says("#view", /Nothing of this kind happened lately/);
        await sidebar.click("#failed-only");
        await sidebar.click("[data-who='apps']");
        await sidebar.says("#view", /Nothing of this kind happened lately/);
        await sidebar.click("[data-who='sites']");
        await sidebar.says(".activity", /t\/life/);
        await sidebar.go(`site/${encodeURIComponent(site.origin)}`);
        await sidebar.says("#view", /May do now.*Use toolsfor now until.*What it did.*t\/life/s);
        await sidebar.page.run("document.querySelector('#stop-beside').click()");
        await sidebar.says("#site", /No access to your tools/);
        await until("no mark", async () => ((await mark()) === "" ? true : undefined));
        assert.equal(((await page.run("return shown(agent.tools.call({ tool: 't/life' }))")) as Settled).code, "ERR_SCOPE_REQUIRED");
        await sidebar.says(".activity [data-tone='warn']", /t\/life.*refused: not allowed/);
      }));

    test("what sites may do is shown as it changes, and taken back", () =>
      inBrowser.run(async ({ browser, harbor }: World) => {
        const sidebar = await Sidebar.open(browser, "sites");
        const site = (name: string) => sidebar.go(`site/${encodeURIComponent(`https://${name}.example`)}`);
        await sidebar.says("#view", /No AI app has access yet.*No web site has access yet/s);
        await harbor.cli("grant", "https://a.example", "mcp:tools.list", "--always");
        await harbor.cli("grant", "https://a.example", "mcp:tools.call", "--once", "--tool", "weather/map");
        await harbor.cli("grant", "https://b.example", "mcp:tools.call", "--deny");
        await sidebar.says("[data-origin='https://a.example']", /a\.example1 tool, \d+ min left/);
        await sidebar.says("[data-origin='https://b.example']", /b\.exampleblocked/);
        await sidebar.click("[data-origin='https://a.example'] a");
        await sidebar.says("#view", /Use toolsfor now.*weather\/map.*See toolsalways/s);
        await site("b");
        await sidebar.says("#view", /Use toolsblocked/);
        await harbor.cli("grant", "https://b.example", "mcp:tools.call", "--always", "--tool", "weather/map");
        await sidebar.says("#view", /Use toolsblocked.*Unblock.*Use toolsalways, has no effect while blocked.*Revoke/s);
        assert.equal(await sidebar.count(".overridden"), 1);
        await sidebar.click(".overridden [data-revoke]");
        await sidebar.gone(".overridden");
        await sidebar.click("[data-revoke]");
        await sidebar.says("#view", /Nothing\. It must ask you first/);
        await site("a");
        await sidebar.click("[data-revoke='all']");
        await sidebar.says("#view", /Nothing\. It must ask you first/);
        await sidebar.go("sites");
        await sidebar.says("#view", /No web site has access yet/);
        assert.deepEqual(JSON.parse(await harbor.cli("grants", "--json")).grants, []);
      }));

    test("what sites may ask for at all is switched in the panel, and so it is in the options of the other extension", () =>
      inBrowser.run(async ({ browser }: World) => {
        const sidebar = await Sidebar.open(browser, "more");
        await sidebar.click("[data-flag='toolAccess'][aria-checked='true']");
        await until("the switch", async () => ((await sidebar.count("[data-flag='toolAccess'][aria-checked='false']")) === 1 ? true : undefined));
        const options = await browser.open(browser.apiUrl("options.html"));
        const boxes = "return [...document.querySelectorAll('#flags input:enabled')].map((box) => box.checked)";
        await until("the options", async () => (JSON.stringify(await options.run(boxes)) === "[true,false,true,true,true,false,false,false]" ? true : undefined));
        assert.deepEqual([await serious(options), await options.run(FITS)], [[], true]);
      }));

    test("a background that the browser has ended is found again, and nothing comes and goes meanwhile", () =>
      inBrowser.run(async (world: World) => {
        const { browser, harbor } = world;
        await weather(world);
        const sidebar = await Sidebar.open(browser);
        await sidebar.says("#server-list .state", /^running$/);
        // What is clicked right then would be missed.
        await sidebar.page.run(`
          const bridge = document.getElementById("bridge");
          const look = () => bridge.querySelector(".notice") && (bridge.dataset.noticed = bridge.textContent);
          new MutationObserver(look).observe(bridge, { childList: true, subtree: true })`);
        await browser.endBackgrounds(sidebar.page);
        await harbor.cli("stop", "weather");
        await sidebar.says("#server-list .state", /^stopped$/);
        assert.equal(await sidebar.page.run("return document.getElementById('bridge').dataset.noticed ?? 'nothing'"), "nothing");
      }));

    test("each place is fit for everybody, also where it is narrow", () =>
      inBrowser.run(async (world: World) => {
        const { browser, harbor } = world;
        await weather(world);
        await writeToolsServer(harbor, "Something else.");
        await harbor.cli("restart", "weather");
        await harbor.cli("add", "mail", "--secret", "MAIL_TOKEN", "--", "node", "x").catch(() => undefined);
        await harbor.cli("grant", "https://a.example", "mcp:tools.call", "--always");
        const sidebar = await Sidebar.open(browser);
        await sidebar.page.run("document.documentElement.style.width = '280px'");
        for (const [place, shows] of [
          ["servers", "[id='server mail']"],
          ["server/mail/overview", ".notice"],
          ["server/mail/secrets", "[data-secret]"],
          ["server/weather/tools", ".change"],
          ["server/weather/logs", ".log li"],
          ["tool/weather/forecast", "#call"],
          ["sites", "[data-origin]"],
          ["site/https%3A%2F%2Fa.example", "[data-revoke]"],
          ["more", "[data-flag]"],
          ["browser", "#browser-switch"],
          ["questions", "#view h3"],
          ["activity", ".activity li"],
          ["add", ".entries li"],
          ["install/filesystem", "#plan"],
          ["new/remote", "#add-server"],
          ["new/command", "#add-server"],
        ] as const) {
          await sidebar.go(place);
          await sidebar.text(shows);
          assert.deepEqual([place, await serious(sidebar.page), await sidebar.page.run(FITS)], [place, [], true]);
        }
        // A list that is longer than the window begins at its top, also for whoever is there already.
        await sidebar.page.run("document.querySelector('#view > div').style.minHeight = '300vh'");
        for (let time = 0; time < 2; time += 1) {
          await sidebar.page.run("document.querySelector('#view').scrollTop = 200");
          await sidebar.click("#tabs a[href='#servers']");
          await sidebar.text("[id='server mail']");
          await until("the top", async () => ((await sidebar.page.run("return document.querySelector('#view').scrollTop")) === 0 ? true : undefined));
          await sidebar.page.run("document.querySelector('#view > div').style.minHeight = '300vh'");
        }
        assert.equal(await sidebar.page.run("return scrollY"), 0);
      }, { config: '[catalog]\nregistryUrl = ""\nawesomeUrl = ""\ngithubApiUrl = ""\n' }));
  });
}
