// Cookies and what pages store: a group that the person switches on, granted by name, asked about at each site.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { agentOf, allowed, switchOn } from "../browser/clients.ts";
import { textOf } from "../driver/browser.ts";
import type { Given } from "../driver/mcp_client.ts";
import type { Answers } from "../driver/site.ts";
import { type World, inBrowsers } from "../driver/world.ts";

const TOOLS = ["cookie", "localstorage", "sessionstorage"].flatMap((what) => ["list", "get", "set", "delete", "clear"].map((act) => `browser_${what}_${act}`));

const answers: Answers = (path) => ({
  html: `<!doctype html><meta charset=utf-8><title>Kept</title><label>Password <input type=password value=hunter2></label>
    <script>localStorage.theme = "dark"; localStorage.own = "hunter2"; sessionStorage.step = "3"; Storage.prototype.getItem = () => "forged";</script>`,
  ...(path === "/in" ? { headers: { "set-cookie": "login=s3cret; HttpOnly; Path=/" } } : {}),
});

/** Calls while the person answers the question. */
async function answered(world: World, call: Promise<Given>, host: string, button: string): Promise<Given> {
  call.catch(() => undefined);
  const consent = await world.browser.find("consent.html");
  assert.match(await textOf(consent, "#wish"), new RegExp(`cookies and the storage .* can act as you at ${host}`));
  await consent.click(button);
  return call;
}

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("cookies and storage are used where that was granted by name and the person said yes for the site", () =>
      inBrowser.run(
        async (world: World) => {
          const { browser, harbor, site } = world;
          await switchOn(world);
          const all = await allowed(harbor, "all", ["--tool", "browser/*"]);
          const mcp = await allowed(harbor, "keeper", [...["browser/*", ...TOOLS.map((tool) => `browser/${tool}`)].flatMap((tool) => ["--tool", tool])]);
          try {
            assert.deepEqual((await all.tools()).filter(({ name }) => TOOLS.includes(name)), []);
            assert.deepEqual((await mcp.tools()).map(({ name }) => name).filter((name) => TOOLS.includes(name)).toSorted(), TOOLS.toSorted());
            const agent = agentOf(mcp, site.origin);
            await agent.do("navigate", { url: `${site.origin}/in` });
            const first = await answered(world, agent.call("cookie_list"), "127\\.0\\.0\\.1", "#once");
            assert.match(first.text, /login=s3cret; Host=127\.0\.0\.1; Path=\/; HttpOnly/);
            assert.match((await agent.do("cookie_get", { name: "login" })).text, /login=s3cret/);
            await agent.do("cookie_set", { name: "lang", value: "de", sameSite: "Lax", expires: Math.floor(Date.now() / 1000) + 3600 });
            const page = await browser.find("/in");
            assert.equal(await page.run("return document.cookie"), "lang=de");
            for (const [args, why] of [[{ domain: "localhost" }, /must be the page's host/], [{ path: "x" }, /begin with a slash/], [{ sameSite: "None" }, /does not take|set/]] as const) {
              const refused = await agent.call("cookie_set", { name: "a", value: "1", ...args });
              assert.match(refused.text, why);
            }
            await agent.do("cookie_delete", { name: "lang" });
            assert.doesNotMatch(String(await page.run("return document.cookie")), /lang/);
            assert.match((await agent.do("cookie_clear")).text, /Deleted: [12]\./);
            assert.match((await agent.do("cookie_list")).text, /There is no such cookie/);
            // What the page has put in the place of the browser's own functions changes nothing; what a secret field has stays secret.
            const kept = await agent.do("localstorage_list");
            assert.ok(kept.text.includes("theme=dark") && !kept.text.includes("hunter2"), kept.text);
            assert.match((await agent.do("sessionstorage_get", { key: "step" })).text, /\n3\n/);
            await agent.do("localstorage_set", { key: "theme", value: "x".repeat(5_000) });
            assert.equal(await page.run("return localStorage.theme.length"), 5_000);
            assert.ok((await agent.do("localstorage_get", { key: "theme" })).text.includes("x".repeat(5_000)));
            assert.match((await agent.do("localstorage_get", { key: "none" })).text, /There is no such key/);
            assert.match((await agent.do("localstorage_delete", { key: "theme" })).text, /The key is deleted/);
            await agent.do("localstorage_clear");
            await agent.do("sessionstorage_clear");
            assert.equal(await page.run("return localStorage.length + sessionStorage.length"), 0);
            const full = await agent.call("localstorage_set", { key: "full", value: "x".repeat(240_000) });
            assert.ok(!full.isError, full.text);
            // Another site is another question, and a no holds.
            await agent.do("navigate", { url: `${site.other}/` });
            const no = await answered(world, agent.call("localstorage_list"), "localhost", "#deny");
            assert.equal(no.structured["denied"]?.reason, "refused", no.text);
            assert.equal((await agent.call("cookie_list")).structured["denied"]?.reason, "refused");
          } finally {
            await Promise.all([mcp.end(), all.end()]);
          }
        },
        { mayUsePages: true, config: '[browser]\ngroups = ["storage"]\n', page: answers },
      ));
  });
}
