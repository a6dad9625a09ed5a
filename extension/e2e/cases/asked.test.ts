// What a page may ask, and how often: one question a click, for what is there, and no longer than a server takes to answer.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Browser, type Page, textOf, until } from "../driver/browser.ts";
import { type World, inBrowsers } from "../driver/world.ts";
import type { Settled } from "./way.test.ts";

const noWindow = (browser: Browser) => until("no window", async () => (await browser.count("consent.html")) === 0 || undefined);
const asked = async (page: Page) => (await page.run("return window.asked")) as Settled;

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("one click opens one question; a page that takes it back has to wait", () =>
      inBrowser.run(async ({ browser, site }: World) => {
        const page = await browser.open(site.url);
        // Past window.agent, which cannot take a question back.
        await page.run(`
          window.codes = {};
          addEventListener("message", ({ data }) => { if (data.to === "page") codes[data.id] = data.error?.code; });
          window.raw = (id) => postMessage({ channel: "harbor_web_agent", to: "extension", id, type: "request_permissions", payload: { scopes: wish.scopes } });
          document.querySelector("#ask").onclick = () => raw(1001);`);
        await page.click("#ask");
        const consent = await browser.find("consent.html");
        await textOf(consent, "#origin");
        await page.run(`postMessage({ channel: "harbor_web_agent", to: "extension", cancel: 1001 }); for (let id = 1002; id < 1022; id += 1) raw(id)`);
        const codes = await until("answers", async () => {
          const found = (await page.run("return codes")) as { [id: string]: string };
          return Object.keys(found).length === 20 ? Object.values(found) : undefined;
        });
        assert.deepEqual([...new Set(codes)], ["ERR_USER_GESTURE_REQUIRED"]);
        await noWindow(browser);
        await page.run("document.querySelector('#ask').onclick = () => { window.asked = shown(agent.requestPermissions(wish)); }");
        await page.click("#ask");
        const again = await asked(page);
        assert.deepEqual([again.code, /ten seconds/.test(again.message ?? "")], ["ERR_PERMISSION_DENIED", true], again.message);
        assert.equal(await browser.count("consent.html"), 0);
      }));
  });
}
