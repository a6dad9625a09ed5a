// What the person says holds: deny, once, always, and what a page may ask after that.

import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { type Page, endNoticed, textOf, until } from "../driver/browser.ts";
import { askAndAllow, tick } from "../driver/asking.ts";
import { serious } from "../driver/axe.ts";
import { addDouble } from "../driver/double.ts";
import type { Harbor } from "../driver/harbor.ts";
import { Sidebar } from "../driver/sidebar.ts";
import { writeToolsServer } from "../driver/tools_server.ts";
import { type World, inBrowsers } from "../driver/world.ts";
import type { Settled } from "./way.test.ts";

const SUM = "return shown(agent.tools.call({ tool: 'everything/get-sum', args: { a: 20, b: 22 } }))";

/** Asks by a click, and lets `answer` answer. */
async function ask({ browser }: World, page: Page, answer: (consent: Page) => Promise<void>): Promise<Settled> {
  await page.click("#ask");
  const consent = await browser.find("consent.html");
  await textOf(consent, "#origin");
  await answer(consent);
  const asked = (await page.run("return window.asked")) as Settled;
  await until("the window to close", async () => (await browser.count("consent.html")) === 0 || undefined);
  return asked;
}

async function allowAll(consent: Page, how: "once" | "always"): Promise<void> {
  await tick(consent);
  await consent.click(`#${how}`);
}

/** Asks by clicks until a question is shown: after a denial that takes ten seconds. */
async function askUntilShown({ browser }: World, page: Page): Promise<Page> {
  await until("a question", async () => {
    await page.click("#ask");
    return until("an answer", async () => {
      if ((await browser.count("consent.html")) > 0) return { shown: true };
      // A moment, since in Firefox what has settled comes a little later than what is no promise at all.
      const source = "return Promise.race([window.asked, new Promise((resolve) => setTimeout(resolve, 50, null))])";
      const refused = (await page.run(source)) as Settled | null;
      if (refused === null) return undefined;
      assert.match(refused.message ?? "", /ten seconds/);
      return { shown: false };
    }).then(({ shown }) => shown || undefined);
  });
  const consent = await browser.find("consent.html");
  await textOf(consent, "#origin");
  return consent;
}

/** Counts what the page gets of the driver's input, and holds its clock at each focus while `held` is set. After the page's own listeners. */
const WATCHED = `
  window.events = [];
  window.held = false;
  for (const type of ["click", "dblclick", "focus", "blur"]) addEventListener(type, ({ isTrusted }) => events.push([type, isTrusted]));
  addEventListener("focus", () => {
    delete performance.now;
    const at = performance.now();
    if (held) performance.now = () => at;
  });
`;

/** Clicks both buttons twice, as they are and then with nothing but the page's clock in the way; nothing comes of it. */
async function twice(consent: Page, harbor: Harbor, when: string): Promise<void> {
  for (const button of ["#once", "#always"]) {
    await consent.doubleClick(button);
    await consent.run(`window.events = [];
      window.button = document.querySelector("${button}");
      button.disabled = false;
      Object.defineProperty(button, "disabled", { configurable: true, get: () => false, set: () => undefined })`);
    await consent.doubleClick(button);
    const heard = JSON.stringify(await consent.run("delete button.disabled; button.disabled = true; return window.events"));
    assert.equal(heard, '[["click",true],["click",true],["dblclick",true]]', when);
  }
  assert.deepEqual([await consent.run("return document.querySelector('#deny').disabled"), JSON.parse(await harbor.cli("grants", "--json")).grants], [false, []], when);
}

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("a denial is an answer; a second question has to wait, and needs a gesture", () =>
      inBrowser.run(async (world: World) => {
        const { browser, site, harbor } = world;
        await harbor.everything();
        const page = await browser.open(site.url);
        const noGesture = (await page.run("return shown(agent.requestPermissions(wish))")) as Settled;
        assert.equal(noGesture.code, "ERR_USER_GESTURE_REQUIRED", noGesture.message);
        const denied = await ask(world, page, (consent) => consent.click("#deny"));
        assert.deepEqual([denied.value.granted, denied.value.scopes["mcp:tools.call"]], [false, "not-granted"]);
        await page.click("#ask");
        const again = (await page.run("return window.asked")) as Settled;
        assert.equal(again.code, "ERR_PERMISSION_DENIED", again.message);
        assert.equal(((await page.run(SUM)) as Settled).code, "ERR_SCOPE_REQUIRED");
      }));

    test("a denial for good is one; Escape is one that nobody remembers", () =>
      inBrowser.run(async (world: World) => {
        const { browser, site } = world;
        const page = await browser.open(site.url);
        const dismissed = await ask(world, page, (consent) => consent.press("Escape"));
        assert.equal(dismissed.value.scopes["mcp:tools.call"], "not-granted");
        const other = await browser.open(`${site.url.replace("127.0.0.1", "localhost")}other`);
        const denied = await ask(world, other, async (consent) => {
          await consent.click("#remember");
          await consent.click("#deny");
        });
        assert.equal(denied.value.scopes["mcp:tools.call"], "denied");
        // Nobody is asked again.
        const again = (await other.run("return shown(agent.requestPermissions(wish))")) as Settled;
        assert.deepEqual([again.value.granted, await browser.count("consent.html")], [false, 0]);
      }));

    test("a denial for good says that it takes back what was allowed, and does; asking again gives nothing back", () =>
      inBrowser.run(async (world: World) => {
        const { browser, site, harbor } = world;
        await harbor.everything();
        const page = await browser.open(site.url);
        await ask(world, page, (consent) => allowAll(consent, "always"));
        await addDouble(harbor);
        const denied = await ask(world, page, async (consent) => {
          assert.match(await textOf(consent, ".remember"), /its current access is revoked/);
          await consent.click("#remember");
          await consent.click("#deny");
        });
        assert.deepEqual([denied.value.granted, denied.value.scopes["mcp:tools.call"]], [false, "denied"]);
        const types = async () => JSON.parse(await harbor.cli("grants", "--json")).grants.map((grant: { grant_type: string }) => grant.grant_type);
        assert.deepEqual(await types(), ["DENY", "DENY"]);
        const sidebar = await Sidebar.open(browser, `site/${encodeURIComponent(site.origin)}`);
        await sidebar.says("[data-revoke]", /^Unblock$/);
        await sidebar.click("[data-revoke]");
        await until("both denials to go", async () => ((await types()).length === 0 ? true : undefined));
        assert.equal(((await page.run(SUM)) as Settled).code, "ERR_SCOPE_REQUIRED");
      }));

    test("once ends by its time and with its tab; another tab does not have it", () =>
      inBrowser.run(
        async (world: World) => {
          const { browser, site, harbor } = world;
          await harbor.everything();
          const page = await browser.open(site.url);
          const once = await ask(world, page, (consent) => allowAll(consent, "once"));
          assert.equal(once.value.granted, true);
          assert.match(((await page.run(SUM)) as Settled).value.content[0].text, /42/);
          const other = await browser.open(site.url);
          assert.equal(((await other.run(SUM)) as Settled).code, "ERR_SCOPE_REQUIRED");
          assert.equal(JSON.parse(await harbor.cli("grants", "--json")).grants.length, 2);
          await page.close();
          await until("the grants of the tab to end", async () => {
            return JSON.parse(await harbor.cli("grants", "--json")).grants.length === 0 || undefined;
          });
        },
      ));

    test("once ends after its time", () =>
      inBrowser.run(
        async (world: World) => {
          const { browser, site, harbor } = world;
          await harbor.everything();
          const page = await browser.open(site.url);
          await ask(world, page, async (consent) => {
            assert.equal(await textOf(consent, "#once"), "Allow for 2 seconds");
            await allowAll(consent, "once");
          });
          await until("the grant to end", async () => {
            return ((await page.run(SUM)) as Settled).code === "ERR_SCOPE_REQUIRED" || undefined;
          });
        },
        { config: "[grants]\nonceSeconds = 2\n" },
      ));

    test("always holds after the browser was started again, for the tools that were left in", () =>
      inBrowser.run(async (world: World) => {
        const { site, harbor } = world;
        await harbor.everything();
        const page = await world.browser.open(site.url);
        await page.run("window.wish.tools = ['everything/get-sum', 'everything/echo']");
        const always = await ask(world, page, async (consent) => {
          await tick(consent, ["everything/get-sum"]);
          await consent.click("#always");
        });
        assert.deepEqual(always.value.allowedTools, ["everything/get-sum"]);
        const browser = await world.restart();
        const after = await browser.open(site.url);
        assert.match(((await after.run(SUM)) as Settled).value.content[0].text, /42/);
        const echo = "return shown(agent.tools.call({ tool: 'everything/echo', args: { message: 'x' } }))";
        assert.equal(((await after.run(echo)) as Settled).code, "ERR_TOOL_NOT_ALLOWED");
      }));

    test("a server that was added since is asked about; who is left out is not asked about again", () =>
      inBrowser.run(async (world: World) => {
        const { browser, site, harbor } = world;
        await harbor.everything();
        const page = await browser.open(site.url);
        const first = await ask(world, page, (consent) => allowAll(consent, "always"));
        assert.deepEqual(first.value.allowedTools, ["everything/*"]);
        await addDouble(harbor);
        // Where nobody has clicked, what is allowed is enough.
        const unclicked = await browser.open(site.url);
        assert.equal(((await unclicked.run("return shown(agent.requestPermissions(wish))")) as Settled).value.granted, true);
        await unclicked.close();
        const second = await ask(world, page, async (consent) => {
          const boxes = "return [...document.querySelectorAll('input[data-tool$=\"/*\"]')].map((box) => [box.dataset.tool, box.checked, box.disabled])";
          assert.deepEqual(await consent.run(boxes), [["t/*", false, false], ["everything/*", true, true]]);
          assert.match(await textOf(consent, "label:has(:disabled)"), /allowed already/);
          await allowAll(consent, "always");
        });
        assert.deepEqual(second.value.allowedTools, ["everything/*", "t/*"]);
        assert.ok(((await page.run("return shown(agent.tools.call({ tool: 't/life' }))")) as Settled).value);
        await harbor.cli("add", "later", "--", "node", join(harbor.dir, "server.cjs"));
        const third = await ask(world, page, (consent) => consent.click("#deny"));
        assert.deepEqual([third.value.granted, third.value.allowedTools], [true, ["everything/*", "t/*"]]);
        await page.click("#ask");
        const fourth = (await page.run("return window.asked")) as Settled;
        assert.deepEqual([fourth.value.granted, await browser.count("consent.html")], [true, 0]);
      }));

    test("three denials are enough until the page is loaded again; each next question needs ten seconds", () =>
      inBrowser.run(async (world: World) => {
        const { browser, site } = world;
        const page = await browser.open(site.url);
        for (let time = 0; time < 3; time += 1) {
          const consent = await askUntilShown(world, page);
          await consent.press("Escape");
          assert.equal(((await page.run("return window.asked")) as Settled).value.granted, false);
          await until("the window to close", async () => (await browser.count("consent.html")) === 0 || undefined);
          // What was denied outlives the background.
          await endNoticed(browser, page);
        }
        await page.click("#ask");
        const fourth = (await page.run("return window.asked")) as Settled;
        assert.deepEqual([fourth.code, /loaded again/.test(fourth.message ?? "")], ["ERR_PERMISSION_DENIED", true]);
        await page.goto(site.url);
        await (await askUntilShown(world, page)).press("Escape");
      }));

    test("one question at a time; what was allowed meanwhile is not asked again", () =>
      inBrowser.run(async (world: World) => {
        const { browser, site, harbor } = world;
        await harbor.everything();
        const page = await browser.open(site.url);
        const other = await browser.open(site.url);
        await page.click("#ask");
        await browser.find("consent.html");
        await other.run("wish.scopes = ['mcp:tools.list']");
        await other.click("#ask");
        await page.run("window.first = window.asked");
        for (let time = 0; time < 2; time += 1) {
          await page.click("#ask");
          // Each click's request is read before the next click: nobody clicks as fast as a driver.
          await page.run("return shown(agent.permissions.list())");
        }
        const last = (await page.run("return window.asked")) as Settled;
        assert.deepEqual([last.code, await browser.count("consent.html")], ["ERR_RATE_LIMITED", 1]);
        await allowAll(await browser.find("consent.html"), "always");
        for (const [asking, name] of [[page, "first"], [other, "asked"]] as const) {
          assert.equal(((await asking.run(`return window.${name}`)) as Settled).value.granted, true);
        }
        await until("no window", async () => (await browser.count("consent.html")) === 0 || undefined);
      }));

    test("it can be asked and answered by keys alone; what a program clicks does nothing", () =>
      inBrowser.run(async ({ browser, site, harbor }: World) => {
        await harbor.everything();
        const page = await browser.open(site.url);
        await page.run("document.querySelector('#ask').focus()");
        await page.press("Enter");
        const consent = await browser.find("consent.html");
        await tick(consent);
        await consent.run("const once = document.querySelector('#once'); once.disabled = false; once.click()");
        assert.equal(await browser.count("consent.html"), 1);
        await until("Allow", async () => (await consent.run("return !document.querySelector('#always').disabled")) || undefined);
        const focused = () => consent.run("return document.activeElement.id");
        assert.equal(await focused(), "deny");
        for (const next of ["once", "always"]) {
          await consent.press("Tab");
          assert.equal(await focused(), next);
        }
        await consent.press("Enter");
        const asked = (await page.run("return window.asked")) as Settled;
        assert.equal(asked.value.scopes["mcp:tools.call"], "granted-always");
      }));

    test("a double click that was on its way to something else allows nothing: as it opens, and as it gets the focus back", () =>
      inBrowser.run(async ({ browser, site, harbor }: World) => {
        await harbor.everything();
        const page = await browser.open(site.url);
        await page.click("#ask");
        const consent = await browser.find("consent.html");
        await tick(consent);
        await consent.run(WATCHED);
        // The page's clock stands still, so that the first second is as long as this machine needs.
        await consent.run("performance.now = () => 0");
        await twice(consent, harbor, "opened");

        await consent.run("delete performance.now; window.events = []; window.held = true");
        await consent.leaveAndReturn();
        await until("the focus to return", async () => (await consent.run("return events.join().endsWith('blur,true,focus,true')")) || undefined);
        await twice(consent, harbor, "focused");

        // So it would have been seen: a second later the same input allows.
        await consent.run("window.held = false; delete performance.now");
        await until("Allow", async () => (await consent.run("return !document.querySelector('#always').disabled")) || undefined);
        await consent.doubleClick("#always");
        const asked = (await page.run("return window.asked")) as Settled;
        assert.equal(asked.value.scopes["mcp:tools.call"], "granted-always");
      }));

    test("clicks that follow each other allow nothing, however many; one after a second of calm does", () =>
      inBrowser.run(async ({ browser, site, harbor }: World) => {
        await harbor.everything();
        const page = await browser.open(site.url);
        await page.click("#ask");
        const consent = await browser.find("consent.html");
        await tick(consent);
        const { x, y } = (await consent.run("const { x, y, width, height } = document.querySelector('#always').getBoundingClientRect(); return { x: x + width / 2, y: y + height / 2 }")) as { x: number; y: number };
        // Time is what this is about.
        for (let time = 0; time < 20; time += 1) {
          await consent.clickAt(x, y);
          assert.equal(await consent.run("return document.querySelector('#always').disabled"), true, `click ${time}`);
          await setTimeout(150);
        }
        assert.equal(await page.run("return Promise.race([window.asked, new Promise((resolve) => setTimeout(resolve, 50, null))])"), null);
        await setTimeout(1_200);
        await consent.clickAt(x, y);
        assert.equal(((await page.run("return window.asked")) as Settled).value.granted, true);
      }));

    test("what has changed of a tool since the person saw it stands in the question", () =>
      inBrowser.run(async (world: World) => {
        const { browser, harbor, site } = world;
        await addDouble(harbor);
        const page = await browser.open(site.url);
        await page.run("wish.tools = ['t/reword']");
        await askAndAllow(browser, page, "always");
        const reword = (words: string) => page.run(`return shown(agent.tools.call({ tool: "t/reword", args: { words: ${JSON.stringify(words)} } }))`);
        await reword(" <b>and</b> sends it\u202Eaway");
        await harbor.cli("restart", "t");
        await page.run("wish.tools = ['t/life', 'other/tool']");
        await page.click("#ask");
        const consent = await browser.find("consent.html");
        const changed = await textOf(consent, ".changed");
        assert.match(changed, /Changed since you last accepted it\.Before: lifeNow: life <b>and<\/b> sends it⟨202E⟩away/);
        // It comes first and is not ticked, so that there is nothing to allow until the person has ticked it.
        const first = await consent.run("const box = document.querySelector('input[data-tool]'); return [box.dataset.tool, box.checked, box.closest('.flagged') !== null]");
        assert.deepEqual([first, await textOf(consent, "#wish")], [["t/life", false, true], "wants to run 1 tool: life"]);
        assert.match(await textOf(consent, "#said"), /Nothing is ticked/);
        await consent.press("Escape");
        await page.run("return window.asked");
        const { event, outcome, asked_tools } = JSON.parse(await harbor.cli("audit", "--json", "--limit", "1"));
        assert.deepEqual([event, outcome, asked_tools], ["consent", "dismissed", ["t/life", "other/tool"]]);
        await harbor.cli("grant", site.origin, "mcp:tools.call", "--always", "--tool", "t/life");
        const blocked = (await page.run("return shown(agent.tools.call({ tool: 't/life' }))")) as Settled;
        assert.deepEqual([blocked.code, /changed/.test(blocked.message ?? "")], ["ERR_TOOL_NOT_ALLOWED", true], blocked.message);
      }));

    test("many servers are one line that counts what is ticked; what has failed is not offered", () =>
      inBrowser.run(async (world: World) => {
        const { browser, harbor, site } = world;
        const program = await writeToolsServer(harbor);
        for (const name of "abcdef") await harbor.cli("add", name, "--", "node", program);
        await harbor.cli("add", "broken", "--", "node", "-e", "process.exit(3)").catch(() => undefined);
        const page = await browser.open(site.url);
        await page.click("#ask");
        const consent = await browser.find("consent.html");
        // The tools of some may come later than the question.
        await until("all tools", async () => (/^Ticked: 6 of 24 tools, in 6 of 6 servers\.$/.test(await textOf(consent, "#counts")) ? true : undefined));
        assert.equal(await textOf(consent, "#failed"), "Not shown, because they failed: broken. This allows nothing of them.");
        const isShown = () => consent.run("return document.querySelector('#servers').checkVisibility()");
        assert.equal(await isShown(), false);
        await consent.click("#open-servers");
        assert.deepEqual([await isShown(), await serious(consent)], [true, []]);
        await consent.press("Escape");
      }));

    test("a page that goes away takes its question along", () =>
      inBrowser.run(async ({ browser, site }: World) => {
        const page = await browser.open(site.url);
        await page.click("#ask");
        const consent = await browser.find("consent.html");
        await textOf(consent, "#origin");
        await page.goto(`${site.url}elsewhere`);
        await until("the window to close", async () => (await browser.count("consent.html")) === 0 || undefined);
      }));

    test("the question shows who asks, keeps the focus on Deny, and lets nobody allow at once", () =>
      inBrowser.run(async ({ browser, site }: World) => {
        const page = await browser.open(site.url);
        await page.run("window.wish.reason = 'Trust\\u202E me' + 'x'.repeat(300) + '<b>'");
        await page.click("#ask");
        const consent = await browser.find("consent.html");
        assert.equal(await textOf(consent, "#origin"), site.origin);
        assert.equal(await consent.run("return document.activeElement.id"), "deny");
        const reason = await textOf(consent, "#reason");
        assert.ok(reason.startsWith("Trust⟨202E⟩ mexxx") && reason.includes("…more"), reason);
        await consent.click("#reason .more");
        assert.match(await textOf(consent, "#reason"), /<b>less$/);
        // The focus has just come back: nothing can be allowed yet, whatever the machine's speed.
        const inert = "dispatchEvent(new Event('focus')); return document.querySelector('#once').disabled";
        assert.equal(await consent.run(inert), true);
        await consent.press("Escape");
      }));
  });
}
