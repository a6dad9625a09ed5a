// Scripts of an AI client in pages: granted by name, asked about at each site, and never where the person's grants or secrets are.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { agentOf, allowed, switchOn } from "../browser/clients.ts";
import { textOf, until } from "../driver/browser.ts";
import type { Given } from "../driver/mcp_client.ts";
import { type World, inBrowsers } from "../driver/world.ts";

const PAGE = `<!doctype html><meta charset=utf-8><title>Scripts</title><h1>Heading</h1><button>Press</button><label>Name <input></label>
  <button id=ask onclick="window.asked = agent.requestPermissions({ scopes: ['mcp:tools.list'] }).then(JSON.stringify, ({ code, message }) => code + ' ' + message)">Ask</button>
  <script>JSON.stringify = () => "forged"; Array.prototype.toJSON = undefined; window.own = 7;</script>`;

/** What the page API says, without the page's own JSON. */
const CAPABLE = "return agent.capabilities().then(({ harbor, version }) => `${version} ${harbor.message ?? 'connected'}`, (error) => error.message)";

/** Whether the panel is there once more, with its state. */
const IS_NEW = "return !window.isOld && document.querySelector('#browser-switch')?.checkVisibility() === true";

/** What the person does in the browser so that scripts can run at all. */
async function letScriptsRun(world: World): Promise<void> {
  const { browser, harbor } = world;
  const panel = await switchOn(world);
  if (browser.name === "chrome") await browser.manage("scripts");
  else await panel.click("#allow-scripts");
  const isThere = async () => (await harbor.cli("tools", "browser")).includes("browser_evaluate") || undefined;
  await until("the tool", async () => {
    // Chromium tells nobody of its switch: a panel that is opened looks. One that is loaded again before it is there would never look.
    await panel.run("window.isOld = true; location.reload()").catch(() => undefined);
    await until("the panel", async () => (await panel.run(IS_NEW).catch(() => false)) || undefined);
    return isThere();
  });
}

/** Calls while the person answers the question. */
async function answered(world: World, call: Promise<Given>, button: string): Promise<Given> {
  call.catch(() => undefined);
  const consent = await world.browser.find("consent.html");
  assert.match(await textOf(consent, "#wish"), /may read and do all that you can on 127\.0\.0\.1, passwords in fields included/);
  await consent.click(button);
  return call;
}

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("a client runs scripts where it was granted that by name and the person said yes", () =>
      inBrowser.run(
        async (world: World) => {
          const { browser, harbor, site } = world;
          await letScriptsRun(world);
          const all = await allowed(harbor, "all", ["--tool", "browser/*"]);
          const mcp = await allowed(harbor, "scripts", ["--tool", "browser/*", "--tool", "browser/browser_evaluate"]);
          try {
            assert.ok(!(await all.tools()).some(({ name }) => name === "browser_evaluate"));
            const agent = agentOf(mcp, site.origin);
            await agent.do("navigate", { url: `${site.origin}/page` });
            const call = agent.call("evaluate", { function: "() => ({ title: document.title, own: window.own, list: [1, 2] })" });
            const first = await answered(world, call, "#once");
            assert.ok(first.text.includes('{"title":"Scripts","own":7,"list":[1,2]}'), first.text);
            // It holds for the site; an element is given by its ref.
            const button = await agent.ref("button", "Press");
            assert.match((await agent.do("evaluate", { function: "async (element) => element.textContent", target: button })).text, /"Press"/);
            // The page cannot use the person's grants while a script may be there.
            const page = await browser.find("/page");
            const refused = async () => page.run(CAPABLE);
            assert.match(String(await refused()), /load the page anew/);
            for (const [source, said] of [
              ["() => { throw new Error('no luck') }", /no luck/],
              ["() => 'x'.repeat(100 * 1024 * 1024)", /longer than 100000/],
              ["() => Array(1e7).fill(1)", /longer than 100000/],
              ["() => { const a = {}; a.a = a; return a }", /circular|cyclic/i],
              ["this is no function", /could not be run|nothing came back/i],
            ] as const) {
              const failed = await agent.call("evaluate", { function: source });
              assert.ok(failed.isError && said.test(failed.text), `${source}: ${failed.text.slice(0, 300)}`);
            }
            assert.match((await agent.do("evaluate", { function: "() => undefined" })).text, /undefined/);
            const late = await agent.call("evaluate", { function: "() => new Promise(() => undefined)" });
            assert.ok(late.isError && /did not end within 15 s/.test(late.text), late.text);
            // A named secret is not typed where a script could wait for it.
            await harbor.tell("correct-horse", "secrets", "set", "browser", "PIN", "--site", site.origin);
            const typed = await agent.call("type", { target: await agent.ref("textbox", "Name"), text: { secret: "PIN" } });
            assert.equal(typed.structured["denied"]?.reason, "secret", typed.text);
            // Loaded anew, the page has its API again.
            await agent.do("navigate", { url: `${site.origin}/page` });
            const again = await browser.find("/page");
            assert.match(String(await again.run(CAPABLE)), / connected$/);
            // What it has asked for by then it does not get: neither an answer, nor the person's yes.
            await again.click("#ask");
            await browser.find("consent.html");
            await agent.do("evaluate", { function: "() => 1" });
            assert.match(String(await again.run("return window.asked")), /ERR_PERMISSION_DENIED .*load the page anew/);
          } finally {
            await Promise.all([mcp.end(), all.end()]);
          }
        },
        { mayUsePages: true, page: () => ({ html: PAGE }) },
      ));
  });
}
