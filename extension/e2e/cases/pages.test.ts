// The extensions' own pages: axe-core finds nothing serious on them, and they lay out in narrow windows.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { type Page, textOf, until } from "../driver/browser.ts";
import { type World, inBrowsers } from "../driver/world.ts";

interface Violation {
  id: string;
  impact: string;
  nodes: { html: string }[];
}

/** What axe-core finds serious, or worse. */
async function serious(page: Page): Promise<string[]> {
  const axe = await readFile(join(__ROOT__, "node_modules", "axe-core", "axe.min.js"), "utf8");
  const found = (await page.run(`
    // As a script of a page that knows no modules.
    const module = undefined, define = undefined;
    ${axe};
    const { violations } = await window.axe.run(document, { resultTypes: ["violations"] });
    return violations.map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.map(({ html }) => ({ html })) }));`)) as Violation[];
  return found.filter(({ impact }) => impact === "serious" || impact === "critical").map((one) => JSON.stringify(one));
}

/** The page fits this width, in both themes, and is fit for everybody in them. */
async function fit(page: Page, width: number): Promise<void> {
  await page.run(`document.body.style.width = "${width}px"`);
  for (const theme of ["light", "dark"]) {
    await page.run(`document.documentElement.style.colorScheme = "${theme}"`);
    assert.deepEqual([await serious(page), await page.run(FITS)], [[], true], theme);
  }
}

const FITS = "return document.documentElement.scrollWidth <= document.documentElement.clientWidth";

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
        const sidebar = await browser.open(browser.harborUrl("sidebar.html"));
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
