// `web-agents-api` by itself: what a page learns without Harbor, and what the person switches off.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Page, textOf, until } from "../driver/browser.ts";
import { type World, inBrowsers } from "../driver/world.ts";
import type { Settled } from "./way.test.ts";

const said = (options: Page, what: RegExp) =>
  until(String(what), async () => what.test(await textOf(options, "#harbor")) || undefined);

/** Of what the person can switch off: models, seeing tools, using them. */
const switches = ({ textGeneration, toolAccess, toolCalling }: { [feature: string]: boolean }) => [textGeneration, toolAccess, toolCalling];

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("without Harbor a page learns so, and the options say what to do", () =>
      inBrowser.run(
        async ({ browser, site }: World) => {
          const page = await browser.open(site.url);
          for (const asked of ["agent.tools.list()", "agent.permissions.list()", "agent.requestPermissions(wish)"]) {
            assert.equal(((await page.run(`return shown(${asked})`)) as Settled).code, "ERR_HARBOR_NOT_FOUND", asked);
          }
          const { value } = (await page.run("return shown(agent.capabilities())")) as Settled;
          assert.deepEqual([value.harbor.connected, value.harbor.code], [false, "ERR_HARBOR_NOT_FOUND"]);
          assert.deepEqual([switches(value.features), value.features.agentRuns], [[false, false, false], false]);
          // Neither Harbor's model nor one of the browser's, whatever it has a name for.
          for (const asked of ["ai.createTextSession()", "ai.providers.list()", "agent.sessions.list()", "agent.run({ task: 'x' }).next()"]) {
            const { code, message } = (await page.run(`return shown(${asked})`)) as Settled;
            assert.deepEqual([code, /switch it on, or install it/.test(message ?? "")], ["ERR_HARBOR_NOT_FOUND", true], asked);
          }
          assert.deepEqual(await page.run("return Promise.all([ai.canCreateTextSession(), harbor.LanguageModel.availability(), harbor.LanguageModel.create().catch(({ name }) => name)])"), ["no", "unavailable", "NotSupportedError"]);
          await said(await browser.open(browser.apiUrl("options.html")), /Switch it on at (chrome:\/\/extensions|about:addons).*says how\.$/);
        },
        { alone: true },
      ));

    test("what is switched off is off for every page, and on again at once", () =>
      inBrowser.run(async ({ browser, site, harbor }: World) => {
        await harbor.everything();
        const page = await browser.open(site.url);
        const options = await browser.open(browser.apiUrl("options.html"));
        await said(options, /^Harbor is installed\. It connects/);
        const list = () => page.run("return shown(agent.tools.list())") as Promise<Settled>;
        const call = () => page.run("return shown(agent.tools.call({ tool: 'everything/echo' }))") as Promise<Settled>;
        const codes = async () => [(await list()).code, (await call()).code];
        assert.deepEqual(await codes(), ["ERR_SCOPE_REQUIRED", "ERR_SCOPE_REQUIRED"]);
        await said(options, /^Harbor is connected/);

        const becomes = async (wanted: string[]) =>
          until(wanted.join(), async () => (String(await codes()) === String(wanted) ? true : undefined));
        await options.click("#toolCalling");
        await becomes(["ERR_SCOPE_REQUIRED", "ERR_FEATURE_DISABLED"]);
        await options.click("#toolAccess");
        await becomes(["ERR_FEATURE_DISABLED", "ERR_FEATURE_DISABLED"]);
        await browser.endBackgrounds(page);
        assert.deepEqual(await codes(), ["ERR_FEATURE_DISABLED", "ERR_FEATURE_DISABLED"]);
        const { value } = (await page.run("return shown(agent.capabilities())")) as Settled;
        assert.deepEqual([switches(value.features), value.tools.available], [[true, false, false], false]);
        await options.click("#toolAccess");
        await options.click("#toolCalling");
        await becomes(["ERR_SCOPE_REQUIRED", "ERR_SCOPE_REQUIRED"]);
      }));

    test("without the native host the options say how to get it", () =>
      inBrowser.run(
        async ({ browser, site }: World) => {
          const page = await browser.open(site.url);
          await page.run("return shown(agent.tools.list())");
          const options = await browser.open(browser.apiUrl("options.html"));
          await said(options, /harbor host install/);
          assert.equal(await textOf(options, "#harbor code"), "harbor host install");
        },
        { registered: false },
      ));
  });
}
