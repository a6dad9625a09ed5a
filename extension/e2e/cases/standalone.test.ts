// A page without Harbor: what the browser could do for it by itself, and nothing that would need the person's word.
//
// No browser of these tests has a model or keeps tools of pages: both are played by a script that runs before ours, in the standard's form.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "../driver/browser.ts";
import { type Became, became, modelPage, withEcho } from "../driver/models.ts";
import { type World, inBrowsers } from "../driver/world.ts";

/** A model that says back what it is told, with the number of prompts before; and the registry of tools, which takes an object or a text. */
const NATIVE = `
  const say = (prompts, text) => {
    if (text === "<long>") throw Object.assign(new DOMException("too long", "QuotaExceededError"), { requested: 9, quota: 4 });
    return prompts.map(({ role }) => role).concat("user " + text).join(" ");
  };
  class Session extends EventTarget {
    constructor(prompts, signal) { super(); this.prompts = prompts; signal?.addEventListener("abort", () => (window.ended = (window.ended ?? 0) + 1)); }
    async prompt(text, { signal } = {}) {
      if (text === "<hang>") return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      const said = say(this.prompts, text);
      this.prompts.push({ role: "user" }, { role: "assistant" });
      return said;
    }
    promptStreaming(text) { return new ReadableStream({ start: (out) => { for (const word of say(this.prompts, text).split(" ")) out.enqueue(word + " "); out.close(); } }); }
    async clone({ signal } = {}) { return new Session([...this.prompts], signal); }
    destroy() {}
  }
  window.LanguageModel = class LanguageModel {
    static availability = async () => window.nativeState ?? "available";
    static async create({ initialPrompts = [], signal } = {}) {
      if (window.nativeState === "downloadable") throw new DOMException("a click", "NotAllowedError");
      signal?.throwIfAborted();
      return new Session([...initialPrompts], signal);
    }
  };
  const tools = new Map();
  const context = {
    registerTool: async (tool) => void tools.set(tool.name, tool),
    getTools: async () => [...tools.values()].map(({ name, description, inputSchema }) => ({ name, description, inputSchema, window })),
    async executeTool({ name }, input, options) {
      window.given = (window.given ?? 0) + 1;
      const args = window.wantsText ? JSON.parse(\`\${input}\`) : JSON.parse(JSON.stringify(input));
      return JSON.stringify(await tools.get(name).execute(args, options));
    },
  };
  Object.defineProperty(document, "modelContext", { get: () => context });`;

const TOOLS = `await document.modelContext.registerTool({ name: "add", description: "Adds", inputSchema: { type: "object" }, execute: ({ a, b }) => a + b });
  await document.modelContext.registerTool({ name: "words", description: "", execute: () => "seven words" });
  await document.modelContext.registerTool({ name: "mcp", execute: () => ({ content: [{ type: "text", text: "as it is" }] }) });
  await document.modelContext.registerTool({ name: "object", execute: () => ({ deep: 7 }) });
  await document.modelContext.registerTool({ name: "fails", execute() { throw new Error("no such harbor"); } });
  await document.modelContext.registerTool({ name: "hangs", execute: (_, { signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("stopped")))) });`;

/** What the switches are, and what works. */
async function features(page: Page): Promise<unknown[]> {
  const { value } = await became(page, "return agent.capabilities()");
  const { textGeneration, toolAccess, toolCalling, agentRuns } = value.features;
  return [value.harbor.connected, textGeneration, toolAccess, toolCalling, agentRuns, value.model.available, value.tools, value.runs.available];
}

/** What a page is refused without Harbor, with the words that say how to get it. */
async function rest(page: Page, way: RegExp): Promise<void> {
  for (const source of [
    ...["agent.requestPermissions({ scopes: ['mcp:tools.call'] })", "agent.permissions.list()", "agent.tools.call({ tool: 'time/now' })", "agent.run({ task: 'x' }).next()"],
    ...["agent.sessions.list()", "ai.providers.list()", "ai.providers.getActive()", "ai.createTextSession({ model: 'a:b' })"],
  ]) {
    const { code, message } = await became(page, `return ${source}`);
    assert.deepEqual([code, way.test(message ?? "")], ["ERR_HARBOR_NOT_FOUND", true], `${source}: ${message}`);
  }
}

/** The browser's own model, by `ai`. */
async function models(page: Page): Promise<void> {
  const found = await page.run(`
    const s = await ai.createTextSession({ systemPrompt: "be brief", temperature: 0.4 });
    const said = [await s.prompt("Hello"), (await read(s.promptStreaming("again"))).map(({ type, token }) => type + " " + (token ?? "").trim()).join()];
    const copy = await s.clone();
    await copy.prompt("more");
    said.push((await s.prompt("x")).split(" ").length, (await copy.prompt("x")).split(" ").length);
    const old = await ai.languageModel.create({ initialPrompts: [{ role: "system", content: "s" }, { role: "user", content: [{ type: "text", value: "u" }] }] });
    said.push(await old.prompt("x"));
    const controller = new AbortController();
    const hung = s.prompt("<hang>", { signal: controller.signal }).catch((error) => error === "mine");
    controller.abort("mine");
    const long = await tried(() => s.prompt("<long>"));
    s.destroy();
    return [said, await hung, long.code, (await tried(() => s.prompt("x"))).code, window.ended, await ai.canCreateTextSession(), (await ai.languageModel.capabilities()).available, await ai.runtime.getBest(),
      (await ai.runtime.getCapabilities()).harbor.available]`);
    assert.deepEqual(found, [
      ["system user Hello", "token system,token user,token assistant,token user,token again,done ", 5, 7, "system user user x"],
      true, "ERR_MODEL_FAILED", "ERR_CANCELLED", 1, "readily", "readily", "chrome", "no",
    ]);
  await page.run("window.nativeState = 'downloadable'");
  assert.deepEqual([(await became(page, "return ai.canCreateTextSession()")).value, (await became(page, "return ai.createTextSession()")).code], ["after-download", "ERR_USER_GESTURE_REQUIRED"]);
  await page.run("delete window.nativeState");
}

/** The page's own tools, by `agent.tools`; each is run once, whichever form of input the browser takes. */
async function ownTools(page: Page): Promise<void> {
  const found = (await page.run(`${TOOLS}
    const source = "page:" + location.host;
    const call = (tool, args) => tried(() => agent.tools.call({ tool: source + "/" + tool, args }));
    const listed = await agent.tools.list();
    const results = [await call("add", { a: 20, b: 22 })];
    window.wantsText = true;
    results.push(await call("add", { a: 1, b: 2 }));
    window.wantsText = false;
    results.push(await call("words"), await call("mcp"), await call("object"), await call("none"), await call("fails"));
    const controller = new AbortController();
    const hung = agent.tools.call({ tool: source + "/hangs", signal: controller.signal }).catch((error) => error === "mine");
    while (window.given < 7) await new Promise((next) => setTimeout(next));
    controller.abort("mine");
    results.push({ value: await hung });
    return [listed.map(({ name, serverId }) => name === serverId + "/" + name.split("/")[1] && serverId === source), listed[0].inputSchema, results, window.given]`)) as unknown[];
  const text = (said: string) => ({ value: { content: [{ type: "text", text: said }] } });
  const [listed, schema, results, given] = found as [unknown, unknown, Became[], number];
  assert.deepEqual([listed, schema, given], [[true, true, true, true, true, true], { type: "object" }, 7]);
  assert.deepEqual(results.slice(0, 4), [text("42"), text("3"), text("seven words"), text("as it is")]);
  assert.deepEqual([results[4]?.value, results[5]?.code], [{ ...text('{"deep":7}').value, structuredContent: { deep: 7 } }, "ERR_TOOL_NOT_FOUND"]);
  assert.deepEqual(results.slice(6), [{ value: { ...text("no such harbor").value, isError: true } }, { value: true }]);
}

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    for (const [mode, options, way] of [
      ["without the extension", { alone: true }, /switch it on, or install it/],
      ["without the program", { registered: false }, /harbor host install/],
    ] as const) {
      test(`${mode} a page has the browser's model and its own tools, and the rest says how Harbor is to be had`, () =>
        inBrowser.run(
          async (world: World) => {
            const page = await modelPage(world, world.site.origin, false);
            assert.deepEqual(await features(page), [false, true, false, false, false, true, { available: false, count: 0, servers: [] }, false]);
            await models(page);
            await ownTools(page);
            assert.deepEqual((await features(page)).slice(2, 4), [true, true]);
            assert.deepEqual((await features(page))[6], { available: true, count: 6, servers: [`page:${world.site.origin.replace("http://", "")}`] });
            await rest(page, way);
          },
          { ...options, native: NATIVE },
        ));
    }

    test("with Harbor its answers hold: a no is no way to another model, and own tools are the document's", () =>
      inBrowser.run(
        (world: World) =>
          withEcho(world, async () => {
            const page = await modelPage(world, world.site.origin, false);
            assert.deepEqual((await features(page)).slice(0, 6), [true, true, true, true, true, false]);
            await page.run(TOOLS);
            const codes = await page.run(`return [(await tried(() => agent.tools.list())).code, (await tried(() => agent.tools.call({ tool: "page:" + location.host + "/add", args: { a: 1, b: 2 } }))).code]`);
            assert.deepEqual(codes, ["ERR_SCOPE_REQUIRED", "ERR_TOOL_NOT_FOUND"]);
            await world.harbor.cli("grant", world.site.origin, "model:prompt", "--deny");
            assert.deepEqual(await page.run("return [await ai.canCreateTextSession(), (await tried(() => ai.createTextSession())).code, await ai.runtime.getBest()]"), ["no", "ERR_PERMISSION_DENIED", "chrome"]);
          }),
        { native: NATIVE },
      ));
  });
}
