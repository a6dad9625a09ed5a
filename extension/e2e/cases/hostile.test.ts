// A page that wants more than it may have: it overwrites built-ins, forges messages, floods, claims other origins.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { textOf } from "../driver/browser.ts";
import { Site } from "../driver/site.ts";
import { type World, inBrowsers } from "../driver/world.ts";
import type { Settled } from "./way.test.ts";

/** Breaks what it can before it does anything else, and keeps what it needs itself. */
const HOSTILE = `<!doctype html><meta charset="utf-8"><title>Hostile</title><button id="ask">Ask</button><script>
  const { then, catch: rescue } = Promise.prototype;
  window.shown = (promise) => then.call(promise, (value) => ({ value }), (error) => ({ code: error.code, message: error.message }));
  window.stolen = [];
  const agentBefore = window.agent;
  try { window.agent = { forged: true }; } catch {}
  try { Object.defineProperty(window, "agent", { value: 1 }); } catch {}
  try { delete window.agent; } catch {}
  window.kept = window.agent === agentBefore && Object.isFrozen(agent) && Object.isFrozen(agent.tools);
  window.postMessage = (...all) => stolen.push(all);
  window.addEventListener = () => {};
  JSON.stringify = () => "{}"; Map.prototype.get = () => ({ resolve() {} }); Reflect.apply = () => {};
  Object.defineProperty(Object.prototype, "error", { get() { return { code: "X", message: "x" }; }, configurable: true });
  Object.defineProperty(Object.prototype, "origin", { value: "https://bank.example", configurable: true, writable: true });
  document.querySelector("#ask").onclick = () => { window.asked = shown(agent.requestPermissions({ scopes: ["mcp:tools.call", "mcp:tools.list"], origin: "https://bank.example" })); };
</script>`;

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("what it breaks is its own; what it forges gets it nothing", () =>
      inBrowser.run(async ({ browser, harbor }: World) => {
        await harbor.everything();
        const site = await Site.start(HOSTILE);
        try {
          const page = await browser.open(site.url);
          assert.equal(await page.run("return window.kept"), true);

          await page.click("#ask");
          const consent = await browser.find("consent.html");
          assert.equal(await textOf(consent, "#origin"), site.origin);
          await consent.click("#once");
          const asked = (await page.run("return window.asked")) as Settled;
          assert.deepEqual([asked.value?.granted, asked.value?.origin], [true, site.origin], JSON.stringify(asked));
          assert.deepEqual(await page.run("return window.stolen.length"), 0);

          const sum = "return shown(agent.tools.call({ tool: 'everything/get-sum', args: { a: 20, b: 22 } }))";
          assert.match(((await page.run(sum)) as Settled).value.content[0].text, /42/);

          const cyclic = "const args = {}; args.args = args; return shown(agent.tools.call({ tool: 'everything/echo', args }))";
          assert.equal(((await page.run(cyclic)) as Settled).code, "ERR_INVALID_REQUEST");
          const huge = "return shown(agent.tools.call({ tool: 'everything/echo', args: { message: 'x'.repeat(5000000) } }))";
          assert.equal(((await page.run(huge)) as Settled).code, "ERR_INVALID_REQUEST");
        } finally {
          await site.end();
        }
      }));

    test("a flood is refused beyond a number, and the page next to it goes on", () =>
      inBrowser.run(async ({ browser, site, harbor }: World) => {
        await harbor.everything();
        const flooding = await browser.open(site.url);
        const other = await browser.open(site.url.replace("127.0.0.1", "localhost"));
        const counts = (await flooding.run(`
          for (let id = 0; id < 3000; id += 1) {
            postMessage({ channel: "harbor_web_agent", to: "extension", id: 1e6 + id, type: "host_grant_permission", payload: {} });
            postMessage({ channel: "harbor_web_agent", to: "extension", id: "x" + id, type: "list", payload: null });
          }
          const all = await Promise.all(Array.from({ length: 500 }, () => shown(agent.tools.list())));
          const codes = {};
          for (const { code } of all) codes[code] = (codes[code] ?? 0) + 1;
          return codes;`)) as { [code: string]: number };
        assert.deepEqual(Object.keys(counts).sort(), ["ERR_RATE_LIMITED", "ERR_SCOPE_REQUIRED"], JSON.stringify(counts));
        const next = (await other.run("return shown(agent.permissions.list())")) as Settled;
        assert.equal(next.value.scopes["mcp:tools.call"], "not-granted");
      }));

    test("frames without an origin, and data: pages, have no agent", () =>
      inBrowser.run(async ({ browser, site }: World) => {
        const page = await browser.open(site.url);
        const found = await page.run(`
          const frame = document.createElement("iframe");
          frame.srcdoc = "<p>x</p>";
          const loaded = new Promise((resolve) => (frame.onload = resolve));
          document.body.append(frame);
          await loaded;
          return [frame.contentWindow.agent === undefined, typeof window.agent];`);
        assert.deepEqual(found, [true, "object"]);
      }));
  });
}
