// What goes wrong on the way, and what a page is told: abort, large results, ends of server and bridge, no native host.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { askAndAllow } from "../driver/asking.ts";
import { type Page, endNoticed, textOf, until } from "../driver/browser.ts";
import { allowed } from "../driver/double.ts";
import type { Harbor } from "../driver/harbor.ts";
import { type World, inBrowsers } from "../driver/world.ts";
import type { Settled } from "./way.test.ts";

const call = (tool: string, more = "") => `return shown(agent.tools.call({ tool: 't/${tool}' ${more} }))`;

/** Begins a call that lasts, and waits until the server has it. */
const begin = (page: Page) =>
  page.run(`return new Promise((onProgress) => {
    window.waiting = shown(agent.tools.call({ tool: "t/wait", onProgress: () => onProgress(null) }));
  })`);

/** Waits until the server has heard of so many cancellations. */
async function cancelled(harbor: Harbor, times: number): Promise<void> {
  await until(`cancellation ${times}`, async () => {
    const result = JSON.parse(await harbor.cli("call", "t/cancelled", "--json"));
    return JSON.stringify(result).includes(`"text":"${times}"`) || undefined;
  });
}

/** Has the browser start another program, or one that is not there; the path that was there before. */
async function hostIs(harbor: Harbor, path: string): Promise<string> {
  const { browsers } = JSON.parse(await harbor.cli("host", "status", "--json"));
  const { manifest } = browsers.find((one: { starts: string | null }) => one.starts !== null);
  const before = JSON.parse(await readFile(manifest, "utf8"));
  await writeFile(manifest, JSON.stringify({ ...before, path }));
  return before.path;
}

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("abort, a large result, the end of the server, the end of the bridge", () =>
      inBrowser.run(async (world: World) => {
        const page = await allowed(world);

        const large = (await page.run(`${call("large").replace("return", "const r = await")}; return r.value.content[0].text.length`)) as number;
        assert.equal(large, 1_500_000);

        const aborted = (await page.run(`
          const controller = new AbortController();
          return shown(agent.tools.call({ tool: "t/wait", signal: controller.signal, onProgress: ({ message }) => {
            window.progressed = message;
            controller.abort();
          } }));`)) as Settled;
        assert.deepEqual([aborted.name, await page.run("return window.progressed")], ["AbortError", "begun"]);
        await cancelled(world.harbor, 1);

        const before = ((await page.run(call("life"))) as Settled).value.content[0].text;
        assert.equal(((await page.run(call("end"))) as Settled).code, "ERR_SERVER_UNAVAILABLE");
        const after = await until("the server to be back", async () => {
          return ((await page.run(call("life"))) as Settled).value?.content[0].text as string | undefined;
        });
        assert.notEqual(after, before);

        const { bridge } = JSON.parse(await world.harbor.cli("status", "--json"));
        await begin(page);
        execFileSync("kill", ["-9", String(bridge.pid)]);
        assert.equal(((await page.run("return window.waiting")) as Settled).code, "ERR_BRIDGE_NOT_CONNECTED");
        await until("the bridge to be back", async () => {
          const again = (await page.run(call("life"))) as Settled;
          return again.value?.content[0].text as string | undefined;
        });
      }));

    test("what a page has begun ends with it: it goes elsewhere, is loaded again, or closes", () =>
      inBrowser.run(async (world: World) => {
        const { site, harbor } = world;
        const page = await allowed(world);
        await begin(page);
        await page.goto(`${site.url}elsewhere`);
        await cancelled(harbor, 1);
        await begin(page);
        await page.goto(`${site.other}/`);
        await cancelled(harbor, 2);
        await page.goto(site.url);
        await begin(page);
        await page.close();
        await cancelled(harbor, 3);
      }));

    test("backgrounds that end in the middle: what was asked fails, is not done twice, and the next is as before", () =>
      inBrowser.run(async (world: World) => {
        const { browser } = world;
        const page = await allowed(world);
        await begin(page);
        await endNoticed(browser, page);
        assert.equal(((await page.run("return window.waiting")) as Settled).code, "ERR_BRIDGE_NOT_CONNECTED");
        await cancelled(world.harbor, 1);
        // A question has ended, too: its window is closed, or it says so, and answers nothing any more.
        await world.harbor.cli("add", "second", "--auto-start", "--", "node", join(world.harbor.dir, "server.cjs"));
        await page.click("#ask");
        const consent = await browser.find("consent.html");
        await textOf(consent, "#origin");
        await endNoticed(browser, page);
        assert.equal(((await page.run("return window.asked")) as Settled).code, "ERR_BRIDGE_NOT_CONNECTED");
        if ((await browser.count("consent.html")) > 0) {
          assert.match(await textOf(consent, "#said"), /ended meanwhile/);
          assert.equal(await consent.run("return document.querySelector('#always').disabled"), true);
          await consent.click("#deny");
        }
        await until("the window to close", async () => (await browser.count("consent.html")) === 0 || undefined);
        assert.match(((await page.run(call("life"))) as Settled).value.content[0].text, /-/);
      }));

    test("backgrounds that the browser ends lose nothing", () =>
      inBrowser.run(async ({ browser, site, harbor }: World) => {
        await harbor.everything();
        const page = await browser.open(site.url);
        await askAndAllow(browser, page);
        const sum = "return shown(agent.tools.call({ tool: 'everything/get-sum', args: { a: 20, b: 22 } }))";
        for (let time = 0; time < 3; time += 1) {
          await endNoticed(browser, page);
          const { value, message } = (await page.run(sum)) as Settled;
          assert.match(value?.content[0].text ?? message, /42/);
        }
      }));

    test("without the native host a page learns so, and the sidebar says what to do", () =>
      inBrowser.run(
        async ({ browser, site }: World) => {
          const page = await browser.open(site.url);
          const asked = (await page.run("return shown(agent.tools.list())")) as Settled;
          assert.equal(asked.code, "ERR_HARBOR_NOT_FOUND", asked.message);
          const { value } = (await page.run("return shown(agent.capabilities())")) as Settled;
          assert.deepEqual([value.harbor.connected, value.tools.available], [false, false]);
          const sidebar = await browser.open(browser.harborUrl("sidebar.html"));
          await until("what to do", async () => /harbor host install/.test(await textOf(sidebar, "#bridge")) || undefined);
        },
        { registered: false },
      ));

    test("a program that is not where the browser was told is said to be missing, and is used once it is there", () =>
      inBrowser.run(async ({ browser, site, harbor }: World) => {
        const program = await hostIs(harbor, join(harbor.dir, "gone"));
        const page = await browser.open(site.url);
        const asked = (await page.run("return shown(agent.tools.list())")) as Settled;
        assert.equal(asked.code, "ERR_HARBOR_NOT_FOUND");
        assert.match(asked.message ?? "", /harbor host install/);
        await hostIs(harbor, program);
        await until("the bridge", async () => ((await page.run("return shown(agent.tools.list())")) as Settled).code === "ERR_SCOPE_REQUIRED" || undefined);
      }));

    test("the sidebar shows servers as they are, and starts and stops them", () =>
      inBrowser.run(async ({ browser, harbor }: World) => {
        await harbor.everything();
        const sidebar = await browser.open(browser.harborUrl("sidebar.html#servers"));
        const state = (wanted: string) =>
          until(wanted, async () => (await textOf(sidebar, ".state")) === wanted || undefined);
        await state("running");
        await sidebar.click("[id='stop everything']");
        await state("stopped");
        await harbor.cli("start", "everything");
        await state("running");
      }));
  });
}
