// Sessions of clients in a real browser: whose a tab is, how many there may be, and what becomes of them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { agentOf, allowed, client } from "../browser/clients.ts";
import { type Page, until } from "../driver/browser.ts";
import type { Given, McpClient } from "../driver/mcp_client.ts";
import { type World, inBrowsers } from "../driver/world.ts";

const CLIENT = "client";

/** A session's tabs, at most. */
const MOST_TABS = 40;

const answers = (path: string) => ({
  html: `<!doctype html><title>${path}</title><h1>This is ${path}</h1><a href="/popup" target=_blank>Open</a><button onclick="document.title += '!'">Press</button>`,
});

const idsOf = ({ structured }: Given): number[] => structured["tabs"].map(({ tab_id }: { tab_id: number }) => tab_id);

/** A tab of the session in front, and the page in it: only there a person's click opens another one. */
async function shown(mcp: McpClient, { browser, site }: World, path: string): Promise<{ tabId: number; page: Page }> {
  const agent = agentOf(mcp, site.origin);
  const { structured } = await agent.do("tabs", { action: "new", url: `${site.origin}${path}` });
  const tabId: number = structured["page"].tab_id;
  await agent.do("tabs", { action: "select", background: false, tabId });
  return { tabId, page: await browser.find(path) };
}

const PROMISES: { [promise: string]: (world: World, mcp: McpClient) => Promise<void> } = {
  "what a page opens is the session's, and does not become the tab that is meant": async (world, mcp) => {
    const { tabId, page } = await shown(mcp, world, "/opener");
    await page.click("a");
    const listed = await until("the other tab", async () => {
      const given = await mcp.call("browser_tabs", { action: "list" });
      return idsOf(given).length === 2 && /This is/.test((await mcp.call("browser_snapshot", { tabId: idsOf(given)[1] })).text) ? given : undefined;
    });
    assert.equal(listed.structured["page"].tab_id, tabId);
    assert.match((await mcp.call("browser_snapshot")).text, /This is \/opener/);
    const [, popup] = idsOf(listed);
    assert.match((await mcp.call("browser_snapshot", { tabId: popup })).text, /This is \/popup/);
    // It can be made that one, and where that one closes another takes its place.
    await mcp.call("browser_tabs", { action: "select", tabId: popup });
    assert.match((await mcp.call("browser_snapshot")).text, /This is \/popup/);
    await mcp.call("browser_close");
    await until("the opener to be meant", async () => /This is \/opener/.test((await mcp.call("browser_snapshot")).text) || undefined);
  },

  "two clients work at once, each in tabs of its own": async (world, one) => {
    const other = await allowed(world.harbor, "other", ["--tool", "browser/*"]);
    try {
      const work = async (mcp: McpClient, path: string) => {
        const agent = agentOf(mcp, world.site.origin);
        const first = await agent.do("navigate", { url: `${world.site.origin}${path}` });
        const target = await agent.ref("button", "Press");
        for (let time = 1; time <= 10; time += 1) {
          const [, { text }] = await Promise.all([agent.do("click", { target }), agent.do("snapshot")]);
          assert.match(text, new RegExp(`This is ${path}`));
          const listed = await agent.do("tabs", { action: "list" });
          assert.deepEqual(idsOf(listed), idsOf(first));
          assert.equal(listed.structured["page"].title, `${path}${"!".repeat(time)}`);
        }
        return idsOf(first);
      };
      const [ofOne, ofOther] = await Promise.all([work(one, "/one"), work(other, "/other")]);
      assert.notDeepEqual(ofOne, ofOther);
    } finally {
      await other.end();
    }
  },

  "a session has 40 tabs and no more, whoever opens them": async (world, mcp) => {
    const { tabId, page } = await shown(mcp, world, "/many");
    const urls = Array.from({ length: MOST_TABS - 1 }, () => "about:blank");
    const all = await mcp.call("browser_tabs", { action: "new", urls });
    assert.equal(idsOf(all).length, MOST_TABS, all.text);
    for (const args of [{ action: "new" }, { action: "new", url: `${world.site.origin}/x` }]) {
      const { text, isError } = await mcp.call("browser_tabs", args);
      assert.ok(isError && /a session can have at most 40 tabs/.test(text), text);
    }
    await page.click("a");
    await until("what the page opened to be closed", async () => {
      const { text } = await mcp.call("browser_tabs", { action: "list", tabId });
      return (/the page opened tab/.test(text) && (await world.browser.count("/popup")) === 0) || undefined;
    });
    assert.equal(idsOf(await mcp.call("browser_tabs", { action: "list" })).length, MOST_TABS);
    assert.match((await mcp.call("browser_snapshot", { tabId })).text, /This is \/many/);
    const closed = await mcp.call("browser_session", { action: "close" });
    assert.equal(closed.structured["closed"], MOST_TABS);
  },

  // The last one: nothing is as before.
  "the extension is loaded anew: a call that waits says so, and the client goes on in a new tab": async (world, mcp) => {
    const agent = agentOf(mcp, world.site.origin);
    await agent.do("navigate", { url: `${world.site.origin}/before` });
    const waiting = mcp.call("browser_wait_for", { text: "this never comes", timeout: 30 });
    await agent.do("snapshot");
    await world.browser.manage("reload");
    const { text, isError } = await waiting;
    assert.ok(isError && /browser has ended/.test(text), text);
    const url = `${world.site.origin}/after`;
    const opened = await until("a new tab", async () => {
      const given = await mcp.call("browser_tabs", { action: "new", url }).catch(() => undefined);
      return given?.structured["page"]?.url === url ? given : undefined;
    });
    assert.match((await mcp.call("browser_snapshot", { tabId: opened.structured["page"].tab_id })).text, /This is \/after/);
  },
};

for (const inBrowser of inBrowsers) {
  test(`${inBrowser.name}: sessions`, (t) =>
    inBrowser.run(
      async (world: World) => {
        for (const [promise, holds] of Object.entries(PROMISES)) {
          await t.test(promise, async () => {
            const mcp = await client(world, CLIENT);
            try {
              await holds(world, mcp);
            } finally {
              await mcp.end();
            }
          });
        }
      },
      { mayUsePages: true, page: answers },
    ));
}
