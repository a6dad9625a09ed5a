// An extension goes while a page waits for an answer: the page is told, at once, and told again what is there now.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Managed, type Page, until } from "../driver/browser.ts";
import { allowed } from "../driver/double.ts";
import { type World, inBrowsers } from "../driver/world.ts";
import type { Settled } from "./way.test.ts";

/** How long a page may wait for the end of what it began. What is lost is noticed by an event, not by a time that runs out. */
const SOON_MS = 10_000;

/** Begins a call that lasts; it has begun when the server says so. What becomes of it is in `window.waiting`, with the time of that. */
const BEGIN = `return new Promise((onProgress) => {
  window.waiting = shown(agent.tools.call({ tool: "t/wait", onProgress: () => onProgress(null) }))
    .then((settled) => ({ ...settled, at: Date.now() }));
})`;

/** Does that to `harbor`, or the other one, while a call lasts; what the page is told of it. */
async function during({ browser }: World, page: Page, what: Managed, which?: "web-agents-api"): Promise<Settled> {
  await page.run(BEGIN);
  const before = Date.now();
  await browser.manage(what, which);
  const settled = (await page.run("return window.waiting")) as Settled & { at: number };
  assert.ok(settled.at - before < SOON_MS, `${settled.at - before} ms`);
  return settled;
}

const life = (page: Page) => page.run("return shown(agent.tools.call({ tool: 't/life' }))") as Promise<Settled>;

/** Waits until calls are answered again. */
const back = (page: Page) => until("an answer", async () => (await life(page)).value as unknown);

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("harbor is loaded again, switched off and on, and removed while a call lasts: each time the page is told at once", () =>
      inBrowser.run(async (world: World) => {
        const page = await allowed(world);
        assert.equal((await during(world, page, "reload")).code, "ERR_BRIDGE_NOT_CONNECTED");
        await back(page);
        assert.equal((await during(world, page, "disable")).code, "ERR_BRIDGE_NOT_CONNECTED");
        assert.equal((await life(page)).code, "ERR_HARBOR_NOT_FOUND");
        await world.browser.manage("enable");
        await back(page);
        assert.equal((await during(world, page, "remove")).code, "ERR_BRIDGE_NOT_CONNECTED");
        assert.equal((await life(page)).code, "ERR_HARBOR_NOT_FOUND");
      }));

    test("web-agents-api is loaded again while a call lasts: the page is told", () =>
      inBrowser.run(async (world: World) => {
        const page = await allowed(world);
        assert.equal((await during(world, page, "reload", "web-agents-api")).code, "ERR_BRIDGE_NOT_CONNECTED");
      }));
  });
}
