// The extensions' own pages: axe-core finds nothing serious on them, and they lay out in narrow windows.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { FITS, serious } from "../driver/axe.ts";
import { type Page, textOf, until } from "../driver/browser.ts";
import { type World, inBrowsers } from "../driver/world.ts";

/** The page fits this width, in both themes, and is fit for everybody in them. */
async function fit(page: Page, width: number): Promise<void> {
  await page.run(`document.body.style.width = "${width}px"`);
  for (const theme of ["light", "dark"]) {
    await page.run(`document.documentElement.style.colorScheme = "${theme}"`);
    assert.deepEqual([await serious(page), await page.run(FITS)], [[], true], theme);
  }
}

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("pages are fit for everybody", () =>
      inBrowser.run(async ({ browser, site, harbor }: World) => {
        await harbor.everything();
        const page = await browser.open(site.url);
        await page.run("wish.reason = 'x'.repeat(500)");
        await page.click("#ask");
        const consent = await browser.find("consent.html");
        await textOf(consent, "#origin");
        assert.deepEqual([await serious(consent), await consent.run(FITS)], [[], true]);
        await consent.press("Escape");
        const sidebar = await browser.open(browser.harborUrl("sidebar.html#servers"));
        await textOf(sidebar, ".state");
        await sidebar.run("document.body.style.width = '240px'");
        assert.deepEqual([await serious(sidebar), await sidebar.run(FITS)], [[], true]);
      }));

    test("the options of web-agents-api are, too", () =>
      inBrowser.run(async ({ browser }: World) => {
        const options = await browser.open(browser.apiUrl("options.html"));
        await until("the switches", async () => (await options.run("return document.querySelector('#toolCalling')?.checked")) || undefined);
        await fit(options, 280);
      }));
  });
}
