// Links that open in another tab: behind, and what the person looks at stays in front.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { agentOf, client } from "../browser/clients.ts";
import { until } from "../driver/browser.ts";
import { type World, inBrowsers } from "../driver/world.ts";

const PERSON = `<title>Person</title><script>window.seen = []; for (const type of ["blur", "visibilitychange"]) (type === "blur" ? window : document).addEventListener(type, () => seen.push(type));</script>`;

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("a link with a target opens behind what the person looks at", () =>
      inBrowser.run(
        async (world: World) => {
          const { browser, site } = world;
          const mcp = await client(world, "beside");
          try {
            const agent = agentOf(mcp, site.origin);
            await agent.do("navigate", { url: `${site.origin}/links` });
            const person = await browser.open(`${site.origin}/person`);
            await person.run("window.seen.length = 0; return true");
            await agent.do("click", { target: await agent.ref("link", "Beside") });
            const opened = await until("the tab", async () => {
              const { structured } = await agent.do("tabs", { action: "list" });
              return structured["tabs"].find(({ url }: { url: string }) => url.endsWith("/beside"));
            });
            assert.equal(opened.current, false);
            const page = await browser.find("/beside");
            assert.equal(await page.run("return document.referrer"), `${site.origin}/links`);
            // Firefox shows it for a moment.
            if (inBrowser.name === "chrome") assert.deepEqual(await person.run("return seen"), []);
            await until("the person's tab", async () => (await person.run("return document.visibilityState")) === "visible" || undefined);
          } finally {
            await mcp.end();
          }
        },
        { mayUsePages: true, page: (path) => ({ html: path === "/person" ? PERSON : `<title>Links</title><a href="/beside" target=_blank>Beside</a>` }) },
      ));
  });
}
