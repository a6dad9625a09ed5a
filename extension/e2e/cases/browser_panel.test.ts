// What the panel's page about the browser tools switches.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { agentOf, client, switchOn } from "../browser/clients.ts";
import { textOf, until } from "../driver/browser.ts";
import { type World, inBrowsers } from "../driver/world.ts";

/** Counts the frames that are put around its button. */
const PAGE = `<!doctype html><meta charset=utf-8><title>Marks</title><button>Press</button><script>
  window.marks = 0;
  new MutationObserver((records) => { for (const { addedNodes } of records) for (const node of addedNodes) if (node.style?.pointerEvents === "none") marks += 1; }).observe(document.documentElement, { childList: true });</script>`;

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("elements are marked until the person switches that off; of cookies the panel says what they are", () =>
      inBrowser.run(
        async (world: World) => {
          const { browser, harbor, site } = world;
          const panel = await switchOn(world);
          await until("what cookies are", async () => /Cookies are your logins/.test(await textOf(panel, "#view")) || undefined);
          // Tools of a group that is off are not there.
          assert.doesNotMatch(await harbor.cli("tools", "browser"), /browser_(cookie|localstorage)_/);
          const mcp = await client(world, "marks");
          try {
            const agent = agentOf(mcp, site.origin);
            await agent.do("navigate", { url: `${site.origin}/marks` });
            const page = await browser.find("/marks");
            const press = async () => {
              await agent.do("tabs", { action: "select", background: false });
              await agent.do("click", { target: "button" });
              return page.run("return window.marks");
            };
            assert.equal(await press(), 1);
            await panel.click("#marks-switch");
            await until("the switch", async () => (await panel.run("return document.querySelector('#marks-switch').getAttribute('aria-checked')")) === "false" || undefined);
            assert.equal(await press(), 1);
          } finally {
            await mcp.end();
          }
        },
        { mayUsePages: true, page: () => ({ html: PAGE }) },
      ));
  });
}
