// What a person allows a site holds in one profile alone: in a browser's own, or in a container of Firefox.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { askAndAllow } from "../driver/asking.ts";
import { type Page, textOf, until } from "../driver/browser.ts";
import { Sidebar } from "../driver/sidebar.ts";
import { switchOn } from "../driver/switches.ts";
import { type World, inBrowsers, startAnother } from "../driver/world.ts";

const [CALL, CREATE] = ["mcp:tools.call", "browser:tabs.create"];

/** What of these it may now. */
const may = async (page: Page, ...scopes: string[]) => {
  const { scopes: words } = (await page.run("return agent.permissions.list()")) as { scopes: { [scope: string]: string } };
  return scopes.map((scope) => words[scope]);
};

for (const inBrowser of inBrowsers.filter(({ name }) => name === "firefox")) {
  describe(inBrowser.name, () => {
    test("a grant holds in the container in which it was made, and the question and the panel name that", () =>
      inBrowser.run(async ({ browser, site, harbor }: World) => {
        await harbor.everything();
        const contained = await browser.openInContainer?.(`${site.url}?contained`, 2);
        assert.ok(contained);
        await contained.run("wish.scopes = ['mcp:tools.call']");
        await contained.click("#ask");
        const consent = await browser.find("consent.html");
        assert.match(await textOf(consent, "#means"), /Your answer holds in Container 2 of your browser alone\./);
        await consent.click("#deny");
        const plain = await browser.open(site.url);
        await harbor.cli("grant", site.origin, CALL as string, "--always");
        assert.deepEqual(await may(plain, CALL as string), ["granted-always"]);
        assert.deepEqual(await may(contained, CALL as string), ["not-granted"]);
        const called = "return shown(agent.tools.call({ tool: 'everything/echo', args: { message: 'hello' } }))";
        assert.deepEqual(((await contained.run(called)) as { code?: string }).code, "ERR_SCOPE_REQUIRED");
        assert.equal(((await plain.run(called)) as { code?: string }).code, undefined);
        await harbor.cli("grant", site.origin, CALL as string, "--always", "--profile", "container:firefox-container-2");
        assert.equal(((await contained.run(called)) as { code?: string }).code, undefined);
        const panel = await Sidebar.open(browser, "sites");
        await panel.says(`[data-origin="${site.origin}"] [data-profile]`, /^Container 2$/);
        await panel.go(`site/${encodeURIComponent(site.origin)}`);
        await panel.says(".site [data-profile]", /^Container 2$/);
        assert.equal(await panel.count(".site"), 2);
      }));

    test("a tab that a page in a container opens is in that container, and of no page outside", () =>
      inBrowser.run(
        async ({ browser, site, harbor }: World) => {
          await switchOn(browser, "browserControl");
          const contained = (await browser.openInContainer?.(`${site.url}?contained`, 2)) as Page;
          for (const profile of ["default", "container:firefox-container-2"]) await harbor.cli("grant", site.origin, CREATE as string, "--always", "--profile", profile);
          await contained.run("localStorage.setItem('where', 'in the container')");
          const { id } = (await contained.run(`return agent.browser.tabs.create({ url: "${site.url}?opened" })`)) as { id: number };
          await contained.run(`return agent.browser.tab.waitForLoad(${id})`);
          const opened = await browser.find("?opened");
          assert.equal(await opened.run("return localStorage.getItem('where')"), "in the container");
          const plain = await browser.open(site.url);
          assert.equal(((await plain.run(`return shown(agent.browser.tab.readability(${id}))`)) as { code?: string }).code, "ERR_PERMISSION_DENIED");
          assert.match(((await contained.run(`return agent.browser.tab.readability(${id})`)) as { text: string }).text, /Ask/);
        },
        { mayUsePages: true },
      ));
  });
}

for (const inBrowser of inBrowsers.filter(({ name }) => name === "chrome")) {
  test("the first browser has the grants without a profile, and another one those of its own", () =>
    inBrowser.run(async ({ browser, site, harbor }: World) => {
      await harbor.everything();
      const first = await browser.open(site.url);
      assert.deepEqual(await may(first, CALL as string), ["not-granted"]);
      const another = await startAnother(harbor);
      try {
        const second = await another.open(site.url);
        await askAndAllow(another, second, "always");
        assert.deepEqual([await may(first, CALL as string), await may(second, CALL as string)], [["not-granted"], ["granted-always"]]);
        const grants = JSON.parse(await harbor.cli("grants", "--json")).grants as { profile: string }[];
        const [profile = ""] = new Set(grants.map((grant) => grant.profile));
        assert.match(profile, /^browser:[0-9a-f]{8}$/);
        await harbor.cli("grant", site.origin, "model:list", "--always");
        await until("the first to have it", async () => (await may(first, "model:list"))[0] === "granted-always" || undefined);
        assert.deepEqual(await may(second, "model:list"), ["not-granted"]);
        await harbor.cli("grant", site.origin, "model:list", "--always", "--profile", profile);
        await until("the other to have it", async () => (await may(second, "model:list"))[0] === "granted-always" || undefined);
        const panel = await Sidebar.open(another, "sites");
        await panel.says(`[data-origin="${site.origin}"] [data-profile]`, /^Browser [0-9a-f]{8}$/);
      } finally {
        await another.close();
      }
    }));
}
