// Back and forward: a browser may keep a whole document, and bring it back as it was. Its API works as before.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Page, textOf, until } from "../driver/browser.ts";
import { addDouble } from "../driver/double.ts";
import { PAGE, Site } from "../driver/site.ts";
import { type World, inBrowsers } from "../driver/world.ts";
import type { Settled } from "./way.test.ts";

const LIFE = "shown(agent.tools.call({ tool: 't/life' }))";

/** What comes of a promise within a second. */
const within = (promise: string) => `return Promise.race([${promise}, new Promise((resolve) => setTimeout(resolve, 1000, { message: "none within a second" }))])`;

/** Goes elsewhere and comes back: to the document that was `kept`, or to a `new` one where the browser did not keep it. */
async function awayAndBack(page: Page, elsewhere: string): Promise<"kept" | "new"> {
  const from = await page.run("window.kept = false; addEventListener('pageshow', ({ persisted }) => { window.kept = persisted; }, { once: true }); return location.href");
  await page.goto(elsewhere);
  await page.run("setTimeout(() => history.back(), 0)");
  const state = `return location.href !== ${JSON.stringify(from)} || document.readyState !== "complete" ? "" : window.kept === undefined ? "new" : window.kept ? "kept" : ""`;
  // Between the two, nothing can be asked.
  return until("the way back", async () => ((await page.run(state).catch(() => "")) as "kept" | "new" | "") || undefined);
}

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("a page that comes back calls and asks as before; what was open when it was left has failed", () =>
      inBrowser.run(async ({ browser, site, harbor }: World) => {
        const elsewhere = await Site.start(PAGE);
        try {
          await addDouble(harbor);
          await harbor.cli("grant", site.origin, "mcp:tools.call", "--always");
          const page = await browser.open(site.url);
          assert.match(((await page.run(`return ${LIFE}`)) as Settled).value.content[0].text, /-/);
          await page.run(`return new Promise((onProgress) => {
            window.waiting = shown(agent.tools.call({ tool: "t/wait", onProgress: () => onProgress(null) }));
          })`);
          // Firefox does not keep every document that had something open or under way; Chromium does.
          const ways = inBrowser.name === "chrome" ? ["kept"] : ["kept", "new"];
          const way = await awayAndBack(page, elsewhere.url);
          assert.ok(ways.includes(way), way);
          if (way === "kept") {
            const open = (await page.run(within("window.waiting"))) as Settled;
            assert.equal(open.code, "ERR_BRIDGE_NOT_CONNECTED", open.message);
          }
          const called = (await page.run(within(LIFE))) as Settled;
          assert.match(called.value?.content[0].text ?? called.message, /-/);
          // Once more, with a request of the very moment in which it is left.
          await page.run(`addEventListener("pagehide", () => { shown(agent.permissions.list()); }, { once: true })`);
          const wayAgain = await awayAndBack(page, elsewhere.url);
          assert.ok(ways.includes(wayAgain), wayAgain);
          const again = (await page.run(within(LIFE))) as Settled;
          assert.match(again.value?.content[0].text ?? again.message, /-/);
          await page.click("#ask");
          const consent = await browser.find("consent.html");
          assert.equal(await textOf(consent, "#origin"), site.origin);
          await consent.press("Escape");
          assert.equal(((await page.run("return window.asked")) as Settled).value.granted, false);
        } finally {
          await elsewhere.end();
        }
      }));
  });
}
