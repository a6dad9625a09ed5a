// Bodies of what pages ask of servers: a group that the person switches on, granted by name, kept after a yes for the site.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { agentOf, allowed, switchOn } from "../browser/clients.ts";
import { textOf, until } from "../driver/browser.ts";
import type { Answers } from "../driver/site.ts";
import { type World, inBrowsers } from "../driver/world.ts";

const PAGE = `<!doctype html><meta charset=utf-8><title>Asks</title><label>Password <input type=password value=hunter2></label>
  <script>
    const done = (name) => (document.body.dataset[name] = "yes");
    fetch("/early").then((answer) => answer.text()).then((text) => done(text));
    async function ask() {
      for (const n of [1, 2]) await (await fetch("/api", { method: "POST", body: JSON.stringify({ n, password: "hunter2" }) })).json();
      await fetch("http://blocked.localhost:" + location.port + "/elsewhere", { method: "POST", body: "elsewhere" }).catch(() => 0);
      await (await fetch("/large")).text();
      await (await fetch("/bytes")).arrayBuffer();
      const request = new XMLHttpRequest();
      request.open("PUT", "/xhr");
      request.onload = () => done(request.responseText);
      request.send("sent by hand");
    }
  </script><button onclick="ask()">Ask</button>`;

let asked = 0;
const answers: Answers = (path) => {
  const headers = { "access-control-allow-origin": "*" };
  if (path === "/api") return { html: JSON.stringify({ answer: (asked += 1), password: "hunter2" }), headers: { ...headers, "content-type": "application/json" } };
  if (path === "/large") return { html: "x".repeat(200_000), headers: { "content-type": "text/plain" } };
  if (path === "/bytes") return { html: "bytes", headers: { "content-type": "application/octet-stream" } };
  if (path === "/xhr" || path === "/early") return { html: path.slice(1), headers: { "content-type": "text/plain" } };
  return { html: PAGE };
};

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("what a page asks of servers is kept once the person said yes, and told without secrets", () =>
      inBrowser.run(
        async (world: World) => {
          const { browser, harbor, site } = world;
          asked = 0;
          await switchOn(world);
          const all = await allowed(harbor, "all", ["--tool", "browser/*"]);
          const mcp = await allowed(harbor, "listener", ["--tool", "browser/*", "--tool", "browser/browser_network_body"]);
          try {
            assert.ok(!(await all.tools()).some(({ name }) => name === "browser_network_body"));
            const agent = agentOf(mcp, site.origin);
            await agent.do("navigate", { url: `${site.origin}/page` });
            const page = await browser.find("/page");
            const pressed = async () => {
              await agent.do("click", { target: "button" });
              await until("the answers", async () => (await page.run("return document.body.dataset.xhr")) === "yes" || undefined);
            };
            await pressed();
            const call = agent.call("network_body", { index: 0 });
            call.catch(() => undefined);
            const consent = await browser.find("consent.html");
            assert.match(await textOf(consent, "#wish"), /ask of servers.* act as you at 127\.0\.0\.1/);
            await consent.click("#once");
            assert.match((await call).text, /kept at this site from now on/);
            const indexOf = async (pattern: RegExp) => {
              const { text } = await agent.do("network_requests");
              const found = text.split("\n").filter((line) => pattern.test(line)).map((line) => Number(line.split(":")[0]));
              assert.ok(found.length > 0, `${pattern}: ${text}`);
              return found;
            };
            // What was asked before the yes was not kept.
            const [before = -1] = await indexOf(/POST \S+\/api/);
            assert.match((await agent.call("network_body", { index: before })).text, /the body was not kept/);
            await agent.do("navigate", { type: "reload" });
            await until("the page", async () => (await page.run("return document.body.dataset.early")) === "yes" || undefined);
            await pressed();
            const body = async (index: number | undefined, part?: string) => (await agent.do("network_body", { index, ...(part === undefined ? {} : { part }) })).text;
            const [first, second, ...others] = await indexOf(/POST \S+\/api/);
            assert.deepEqual(others, []);
            // What went to a place that the session may not use is not told of.
            assert.doesNotMatch((await agent.do("network_requests")).text, /elsewhere/);
            assert.ok((await body(first)).includes('{"answer":3,"password":"') && (await body(second)).includes('{"answer":4,"password":"'));
            const sent = await body(second, "request");
            assert.ok(sent.includes('{"n":2,"password":"') && !sent.includes("hunter2") && !(await body(first)).includes("hunter2"), sent);
            assert.match(await body((await indexOf(/\/early/))[0]), /\nearly\n/);
            assert.match(await body((await indexOf(/PUT/))[0], "request"), /sent by hand/);
            assert.match(await body((await indexOf(/PUT/))[0]), /\nxhr\n/);
            const large = await body((await indexOf(/\/large/))[0]);
            assert.ok(large.includes("body, cut:") && large.length < 51_000, String(large.length));
            assert.match(await body((await indexOf(/\/bytes/))[0]), /\(no text\)/);
            // The page's own functions are the browser's again in a tab of the person's.
            const other = await browser.open(`${site.origin}/other`);
            await until("the page as it is", async () => (await other.run("return [fetch, XMLHttpRequest.prototype.send, XMLHttpRequest.prototype.open].every((one) => /native code/.test(String(one)))")) === true || undefined);
          } finally {
            await Promise.all([mcp.end(), all.end()]);
          }
        },
        { mayUsePages: true, config: '[browser]\ngroups = ["network"]\nblocked = ["blocked.localhost"]\n', page: answers },
      ));
  });
}
