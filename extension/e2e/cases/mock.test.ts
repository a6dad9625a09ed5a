// The mock in a page: as the extension where there is none, and out of its way where there is one.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { mocked } from "../driver/mocked.ts";
import { type Became, became } from "../driver/models.ts";
import { PAGE } from "../driver/site.ts";
import { type World, inBrowsers } from "../driver/world.ts";

/** A page that has the mock before its own script. */
const page = (path: string) => (path.startsWith("/harbor-mock") ? mocked(path) : { html: `<!doctype html><script src="/harbor-mock.js"></script>${PAGE}` });

const SETTLED = `
  window.settled = (promise) => Promise.resolve(promise).then((value) => ({ value }), ({ name, code }) => ({ name, code }));
  window.tried = (work) => settled(new Promise((resolve) => resolve(work())));`;

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("without the extension it is the page API: a click is needed, its script answers, and what is switched off is off", () =>
      inBrowser.run(
        async ({ browser, site }: World) => {
          const shown = await browser.open(site.url);
          await shown.run(SETTLED);
          const codes = async (source: string) => {
            const { name, code } = await became(shown, `return ${source}`);
            // That of a DOMException is a number.
            return code || name;
          };
          assert.equal(await shown.run("return readyEvents > 0 && harbor.LanguageModel.isHarbor"), true);
          assert.deepEqual([await codes("agent.requestPermissions(wish)"), await codes("harbor.LanguageModel.create()")], ["ERR_USER_GESTURE_REQUIRED", "NotAllowedError"]);
          await shown.run(`harborMock.answer({ tools: { "time/now": { call: () => "noon" } }, person: ({ reason }) => reason === "To add numbers" ? "once" : "no" })`);
          await shown.click("#ask");
          assert.equal(((await shown.run("return asked")) as Became).value.granted, true);
          assert.deepEqual(await shown.run("return agent.tools.call({ tool: 'time/now' })"), { content: [{ type: "text", text: "noon" }] });
          const { value } = await became(shown, "return agent.capabilities()");
          assert.deepEqual([value.harbor.connected, value.tools], [true, { available: true, count: 1, servers: ["time"] }]);
          await shown.run("harborMock.answer({ clicks: false, person: 'always' })");
          assert.equal(await shown.run("const s = await ai.createTextSession(); return s.prompt('Hello')"), "Hello");
          // The page's own function, called by the mock's model.
          await shown.run(`harborMock.answer({ model: ({ tools, messages }) => tools.length > 0 && messages.length === 1 ? { calls: [{ name: tools[0].name, arguments: { a: 1 } }] } : "said " + messages.at(-1).content });
            await document.modelContext.registerTool({ name: "next", description: "Adds one", execute: ({ a }) => a + 1 });
            window.events = []; for await (const event of agent.run({ task: "x", tools: ["page:" + location.host + "/next"] })) events.push(event)`);
          assert.equal(await shown.run("return events.at(-1).output"), "said 2");
          assert.equal(await shown.run("document.body.insertAdjacentHTML('beforeend', '<form toolname=f tooldescription=F><input name=q></form>'); return (await document.modelContext.getTools()).length"), 2);
          await shown.run("harborMock.answer({ features: { toolCalling: false } })");
          assert.equal(await codes("agent.tools.call({ tool: 'time/now' })"), "ERR_FEATURE_DISABLED");
          await shown.run("harborMock.answer({ features: {}, harbor: false })");
          assert.deepEqual([await codes("agent.permissions.list()"), (await became(shown, "return agent.tools.list()")).value.map(({ name }: { name: string }) => name.split("/")[1])], ["ERR_HARBOR_NOT_FOUND", ["next", "f"]]);
          assert.deepEqual(await shown.run("harborMock.reset(); return [[...harborMock.asked], (await agent.permissions.list()).scopes['mcp:tools.call']]"), [[], "not-granted"]);
        },
        { page, alone: "bare" },
      ));

    test("where the extension is, it leaves the page to that", () =>
      inBrowser.run(
        async ({ browser, site }: World) => {
          const shown = await browser.open(site.url);
          assert.deepEqual(await shown.run("return [typeof harborMock, (await shown(agent.tools.list())).code]"), ["undefined", "ERR_HARBOR_NOT_FOUND"]);
        },
        { page, alone: true },
      ));
  });
}
