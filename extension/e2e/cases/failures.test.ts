// What goes wrong on the way, and what a page is told: abort, large results, ends of server and bridge, no native host.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { type Page, textOf, until } from "../driver/browser.ts";
import { type World, inBrowsers } from "../driver/world.ts";
import type { Settled } from "./way.test.ts";

/** A server with what these tests need: a large answer, an end, and a call that lasts until it is cancelled. */
const SERVER = `
const { createInterface } = require("node:readline");
const { appendFileSync } = require("node:fs");
const life = require("node:crypto").randomUUID();
const tool = (name) => ({ name, description: name, inputSchema: { type: "object" } });
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
const text = (text) => ({ content: [{ type: "text", text }] });
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "notifications/cancelled") appendFileSync("cancelled", "x");
  if (id === undefined) return;
  if (method === "initialize") {
    const { protocolVersion } = params;
    return say({ id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "t", version: "1" } } });
  }
  if (method === "tools/list") return say({ id, result: { tools: ["large", "end", "wait", "life", "cancelled"].map(tool) } });
  if (method !== "tools/call") return say({ id, error: { code: -32601, message: "no" } });
  const token = params._meta?.progressToken;
  if (params.name === "large") say({ id, result: text("x".repeat(1500000)) });
  if (params.name === "life") say({ id, result: text(life) });
  if (params.name === "end") process.exit(1);
  if (params.name === "wait" && token !== undefined) say({ method: "notifications/progress", params: { progressToken: token, progress: 1, message: "begun" } });
  if (params.name === "cancelled") say({ id, result: text(String(require("node:fs").existsSync("cancelled"))) });
});
`;

const call = (tool: string, more = "") => `return shown(agent.tools.call({ tool: 't/${tool}' ${more} }))`;

/** A page that may call all tools of the server above. */
async function allowed({ browser, site, harbor }: World): Promise<Page> {
  const program = join(harbor.dir, "server.cjs");
  await writeFile(program, SERVER);
  await harbor.cli("add", "t", "--auto-start", "--", "node", program);
  const page = await browser.open(site.url);
  await page.click("#ask");
  const consent = await browser.find("consent.html");
  await textOf(consent, "#origin");
  await consent.click("#always");
  assert.equal(((await page.run("return window.asked")) as Settled).value.granted, true);
  return page;
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
        await until("the server to hear of it", async () => {
          return ((await page.run(call("cancelled"))) as Settled).value.content[0].text === "true" || undefined;
        });

        const before = ((await page.run(call("life"))) as Settled).value.content[0].text;
        assert.equal(((await page.run(call("end"))) as Settled).code, "ERR_SERVER_UNAVAILABLE");
        const after = await until("the server to be back", async () => {
          return ((await page.run(call("life"))) as Settled).value?.content[0].text as string | undefined;
        });
        assert.notEqual(after, before);

        const { bridge } = JSON.parse(await world.harbor.cli("status", "--json"));
        await page.run("window.waiting = shown(agent.tools.call({ tool: 't/wait' }))");
        execFileSync("kill", ["-9", String(bridge.pid)]);
        assert.equal(((await page.run("return window.waiting")) as Settled).code, "ERR_BRIDGE_NOT_CONNECTED");
        await until("the bridge to be back", async () => {
          const again = (await page.run(call("life"))) as Settled;
          return again.value?.content[0].text as string | undefined;
        });
      }));

    test("backgrounds that the browser ends lose nothing", () =>
      inBrowser.run(async ({ browser, site, harbor }: World) => {
        await harbor.everything();
        const page = await browser.open(site.url);
        await page.click("#ask");
        const consent = await browser.find("consent.html");
        await textOf(consent, "#origin");
        await consent.click("#once");
        assert.equal(((await page.run("return window.asked")) as Settled).value.granted, true);
        const sum = "return shown(agent.tools.call({ tool: 'everything/get-sum', args: { a: 20, b: 22 } }))";
        for (let time = 0; time < 3; time += 1) {
          await browser.endBackgrounds(page);
          const { value, message } = (await page.run(sum)) as Settled;
          assert.match(value?.content[0].text ?? message, /42/);
        }
      }));

    test("without the native host a page learns so, and the sidebar says what to do", () =>
      inBrowser.run(
        async ({ browser, site }: World) => {
          const page = await browser.open(site.url);
          const asked = (await page.run("return shown(agent.tools.list())")) as Settled;
          assert.equal(asked.code, "ERR_BRIDGE_NOT_CONNECTED", asked.message);
          const { value } = (await page.run("return shown(agent.capabilities())")) as Settled;
          assert.deepEqual([value.harbor.connected, value.tools.available], [false, false]);
          const sidebar = await browser.open(browser.harborUrl("sidebar.html"));
          await until("what to do", async () => /harbor host install/.test(await textOf(sidebar, "#bridge")) || undefined);
        },
        { registered: false },
      ));

    test("the sidebar shows servers as they are, and starts and stops them", () =>
      inBrowser.run(async ({ browser, harbor }: World) => {
        await harbor.everything();
        const sidebar = await browser.open(browser.harborUrl("sidebar.html"));
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
