// A page that wants more than it may have: it overwrites built-ins, forges messages, floods, claims other origins.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { tick } from "../driver/asking.ts";
import { textOf, until } from "../driver/browser.ts";
import { Site } from "../driver/site.ts";
import { type World, inBrowsers } from "../driver/world.ts";
import type { Settled } from "./way.test.ts";

/** Breaks what it can before it does anything else, and keeps what it needs itself. */
const HOSTILE = `<!doctype html><meta charset="utf-8"><title>Hostile</title><button id="ask">Ask</button><script>
  const { then, catch: rescue } = Promise.prototype;
  window.shown = (promise) => then.call(promise, (value) => ({ value }), (error) => ({ code: error.code, message: error.message }));
  window.keptThen = then;
  window.stolen = [];
  const agentBefore = window.agent;
  // The name is the page's, to use for something of its own; the object is nobody's to change.
  window.agent = { forged: true };
  delete window.agent;
  window.agent = agentBefore;
  for (const [object, name] of [[harbor, "agent"], [agent, "tools"], [agent.tools, "call"]]) {
    try { object[name] = { forged: true }; } catch {}
    try { Object.defineProperty(object, name, { value: 1 }); } catch {}
    try { delete object[name]; } catch {}
  }
  window.kept = harbor.agent === agentBefore && typeof agent.tools.call === "function" && Object.isFrozen(agent) && Object.isFrozen(agent.tools);
  window.postMessage = (...all) => stolen.push(all);
  window.addEventListener = () => {};
  JSON.stringify = () => "{}"; Map.prototype.get = () => ({ resolve() {} }); Reflect.apply = () => {};
  Object.defineProperty(Object.prototype, "error", { get() { return { code: "X", message: "x" }; }, configurable: true });
  Object.defineProperty(Object.prototype, "origin", { value: "https://bank.example", configurable: true, writable: true });
  document.querySelector("#ask").onclick = () => { window.asked = shown(agent.requestPermissions({ scopes: ["mcp:tools.call", "mcp:tools.list"], origin: "https://bank.example" })); };
</script>`;

/** Names and descriptions that would like to be something else. */
const HOSTILE_SERVER = `
const { createInterface } = require("node:readline");
const say = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
const description = '<img src=x onerror="document.title=\\'owned\\'"></script><script>document.title = "owned"</script>';
const tools = [
  { name: "a", description },
  { name: "b", title: "evil\\u202Elive\\u200B", description: "W".repeat(500000) },
  ...Array.from({ length: 300 }, (_, at) => ({ name: "many" + at, description: "\\n".repeat(1000) + "x".repeat(1000) })),
].map((tool) => ({ ...tool, inputSchema: { type: "object" } }));
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") say(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "h", version: "1" } });
  if (method === "tools/list") say(id, { tools });
});
`;

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
          await tick(consent);
          await consent.click("#once");
          const asked = (await page.run("return window.asked")) as Settled;
          assert.deepEqual([asked.value?.granted, asked.value?.origin], [true, site.origin], JSON.stringify(asked));
          assert.deepEqual(await page.run("return window.stolen.length"), 0);

          // Once more, while a call is under way.
          const after = (await page.run(`
            const pending = agent.tools.call({ tool: "everything/get-sum", args: { a: 20, b: 22 } });
            await null;
            Promise.prototype.then = () => {}; Map.prototype.delete = () => { throw 1; }; Object.freeze = (x) => x;
            Object.defineProperty(MessageEvent.prototype, "data", { get: () => ({ id: 1, result: "forged" }) });
            Object.defineProperty(MessageEvent.prototype, "ports", { get: () => [new MessageChannel().port1] });
            MessagePort.prototype.postMessage = (...all) => stolen.push(all);
            for (const target of [window, document]) EventTarget.prototype.dispatchEvent.call(target, new MessageEvent("message", { data: {} }));
            const settled = await shown(pending);
            // The driver of this test needs it.
            Promise.prototype.then = window.keptThen;
            return settled;`)) as Settled;
          assert.match(after.value?.content[0].text ?? JSON.stringify(after), /42/);

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
          const all = await Promise.all(Array.from({ length: 500 }, () => shown(agent.tools.list())));
          const codes = {};
          for (const { code } of all) codes[code] = (codes[code] ?? 0) + 1;
          return codes;`)) as { [code: string]: number };
        assert.deepEqual(Object.keys(counts).sort(), ["ERR_RATE_LIMITED", "ERR_SCOPE_REQUIRED"], JSON.stringify(counts));
        const next = (await other.run("return shown(agent.permissions.list())")) as Settled;
        assert.equal(next.value.scopes["mcp:tools.call"], "not-granted");
      }));

    test("arguments that are no data are refused, and leave the page's own API as it was", () =>
      inBrowser.run(async ({ browser, site }: World) => {
        const page = await browser.open(site.url);
        const codes = (await page.run(`
          const call = (more) => shown(agent.tools.call({ tool: "everything/echo", ...more }));
          const boom = () => { throw new RangeError("boom"); };
          const all = [
            call({ args: new Proxy({}, { ownKeys: boom }) }), call({ args: { get a() { return boom(); } } }), call({ args: { toJSON: boom } }),
            call({ args: { toJSON: () => "text" } }), call({ args: 1n }), call({ args: () => 1 }), call({ args: Symbol("a") }), call({ args: [] }),
            call({ args: { a: 1n } }), call({ tool: { [Symbol.toPrimitive]: boom } }), call({ tool: () => 1 }), call({ signal: { aborted: true } }), call({ signal: "x" }), call({ signal: null }),
            call({ onProgress: boom }), shown(agent.tools.call(new Proxy({}, { get: boom }))), shown(agent.tools.call(null)),
            shown(agent.requestPermissions({ scopes: [() => 1] })), shown(agent.requestPermissions({ scopes: new Proxy([], {}) })),
            shown(agent.requestPermissions({ scopes: { length: 1, 0: "mcp:tools.call" } })), shown(agent.requestPermissions()),
          ];
          return (await Promise.all(all)).map(({ code, name }) => code ?? name);`)) as string[];
        const invalid = "ERR_INVALID_REQUEST";
        assert.deepEqual(codes, [
          ...[invalid, invalid, invalid, invalid, invalid, invalid, invalid, invalid],
          ...[invalid, invalid, invalid, invalid, invalid, invalid, "ERR_SCOPE_REQUIRED", "RangeError", invalid],
          ...[invalid, invalid, invalid, invalid],
        ]);
        assert.ok(((await page.run("return shown(agent.permissions.list())")) as Settled).value);
      }));

    test("a document that is written anew keeps the API", () =>
      inBrowser.run(async ({ browser, site }: World) => {
        const page = await browser.open(site.url);
        await page.run("window.kept = shown; document.open(); document.write('<!doctype html><p>new'); document.close()");
        const { value } = (await page.run("return kept(agent.permissions.list())")) as Settled;
        assert.equal(value.origin, site.origin);
      }));

    test("what a hostile server calls itself stands in the question as text", () =>
      inBrowser.run(async ({ browser, site, harbor }: World) => {
        const program = join(harbor.dir, "hostile.cjs");
        await writeFile(program, HOSTILE_SERVER);
        await harbor.cli("add", "h", "--auto-start", "--", "node", program);
        const page = await browser.open(site.url);
        await page.click("#ask");
        const consent = await browser.find("consent.html");
        // Half a megabyte of tools may come later than the question.
        const shown = await until("the tools in the question", async () => {
          const text = await textOf(consent, "#servers");
          return text.includes("many0") ? text : undefined;
        });
        assert.match(shown, /<img src=x onerror="document\.title='owned'">/);
        assert.match(shown, /evil⟨202E⟩live/);
        assert.doesNotMatch(shown, /[\u202E\u200B]/);
        const found = await consent.run(`return [
          document.querySelectorAll("img, iframe, a, #servers script, #servers style").length,
          document.documentElement.scrollWidth <= document.documentElement.clientWidth,
          document.querySelector("#deny").getBoundingClientRect().bottom <= innerHeight,
          document.querySelector("#origin").textContent,
          document.title]`);
        assert.deepEqual(found, [0, true, true, site.origin, `Harbor: ${site.origin} asks`]);
        await consent.press("Escape");
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
