// The whole way: a page asks, the person clicks, tools of a real server are listed and called; in both browsers.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { tick } from "../driver/asking.ts";
import { textOf } from "../driver/browser.ts";
import { type World, inBrowsers } from "../driver/world.ts";

/** What became of a promise of the page. */
export interface Settled {
  value?: any;
  code?: string;
  message?: string;
  name?: string;
}

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("a page asks, is allowed once, lists and calls tools", () =>
      inBrowser.run(async ({ browser, site, harbor }: World) => {
        await harbor.everything();
        const page = await browser.open(site.url);
        // What is not here does not exist yet: pages look before they use it.
        const names = await page.run("return [agent, agent.tools, agent.sessions, ai, ai.providers, ai.languageModel, harbor].map((one) => Object.keys(one).sort().join())");
        assert.deepEqual(names, [
          ...["browser,capabilities,permissions,requestPermissions,run,sessions,tools", "call,list", "create,get,list,terminate"],
          ...["canCreateTextSession,createTextSession,languageModel,providers,runtime", "add,getActive,list", "capabilities,create"],
          "LanguageModel,LanguageModelToolCall,LanguageModelToolError,LanguageModelToolSuccess,agent,ai,chromeAiDetected,modelContext,native,version",
        ]);

        const before = (await page.run("return shown(agent.tools.list())")) as Settled;
        assert.equal(before.code, "ERR_SCOPE_REQUIRED", before.message);

        await page.click("#ask");
        const consent = await browser.find("consent.html");
        assert.equal(await textOf(consent, "#origin"), site.origin);
        await tick(consent);
        await consent.click("#once");
        const asked = (await page.run("return window.asked")) as Settled;
        const of = (words: string, ...scopes: string[]) => Object.fromEntries(scopes.map((scope) => [scope, words]));
        assert.deepEqual(asked.value?.scopes, {
          ...of("granted-once", "mcp:tools.list", "mcp:tools.call"),
          ...of("not-granted", "mcp:server.connect", "model:prompt", "model:tools", "model:list", "browser:activeTab.read", "browser:activeTab.interact", "browser:activeTab.screenshot"),
          ...of("not-granted", "browser:navigate", "browser:tabs.read", "browser:tabs.create"),
        });
        assert.equal(asked.value.granted, true);

        const tools = (await page.run("return shown(agent.tools.list())")) as Settled;
        assert.ok(tools.value.some((tool: { name: string }) => tool.name === "everything/get-sum"), JSON.stringify(tools));
        const sum = (await page.run(
          "return shown(agent.tools.call({ tool: 'everything/get-sum', args: { a: 20, b: 22 } }))",
        )) as Settled;
        assert.match(sum.value.content[0].text, /42/);
      }));

    test("a page that also asks for what there is not is asked about the rest; where there is nothing, nobody is asked", () =>
      inBrowser.run(async ({ browser, site, harbor }: World) => {
        await harbor.everything();
        const page = await browser.open(site.url);
        await page.run("wish.scopes = ['mcp:tools.call', 'mcp:server.connect', 'chat:open', 'mcp:servers.register', 'browser:activeTab.read']");
        await page.click("#ask");
        const consent = await browser.find("consent.html");
        assert.match(await textOf(consent, "#wish"), /^wants to run all tools of a server: .*, and to start their servers$/);
        assert.match(await textOf(consent, "#means"), /A server that does not run starts when the site calls a tool of it/);
        await tick(consent);
        await consent.click("#always");
        const { value } = (await page.run("return window.asked")) as Settled;
        const words = (...scopes: string[]) => scopes.map((scope) => value.scopes[scope]);
        assert.equal(value.granted, false);
        assert.deepEqual(words("mcp:tools.call", "mcp:server.connect"), ["granted-always", "granted-always"]);
        assert.deepEqual(words("chat:open", "mcp:servers.register", "browser:activeTab.read"), ["unavailable", "unavailable", "unavailable"]);
        const none = (await page.run("return shown(agent.requestPermissions({ scopes: ['chat:open', 'toString'] }))")) as Settled;
        assert.deepEqual([none.value?.granted, none.value?.scopes["chat:open"], none.value?.scopes.toString], [false, "unavailable", "unavailable"]);
      }));
  });
}
