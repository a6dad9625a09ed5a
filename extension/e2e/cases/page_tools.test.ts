// Tools of a page's own: what it registers, and a run of the same page that uses them.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Page, until } from "../driver/browser.ts";
import { modelPage, withEcho } from "../driver/models.ts";
import { type World, inBrowsers } from "../driver/world.ts";

/** `ran(options)` is all that a run tells; `own(name)` the name of a tool of the page's. */
const HELP = `
  window.own = (name) => "page:" + location.host + "/" + name;
  window.ran = async (options) => {
    const events = [];
    try {
      for await (const event of agent.run(options)) events.push(event);
      return { events };
    } catch (error) {
      return { events, code: error.code, message: error.message };
    }
  };`;

/** A page with forms; what they were submitted with is in `submits`. */
const FORMS = `<!doctype html><title>Forms</title>
<form id="book" toolname="book" tooldescription="Books a table" toolautosubmit>
  <label>Name <input name="elements" required></label>
  <input name="getAttribute" type="number" min="1" max="8" toolparamdescription="How many people">
  <select name="when"><option value="noon">Noon</option><option>evening</option></select>
  <input type="radio" name="seat" value="in"><input type="radio" name="seat" value="out">
  <input type="checkbox" name="quiet"><input type="checkbox" name="with" value="dog"><input type="checkbox" name="with" value="child">
  <input type="password" name="secret"><input type="hidden" name="token" value="1"><input name="off" disabled><textarea name="note"></textarea><button>Book</button>
</form>
<form id="ask" toolname="ask" tooldescription="Asks the person"><input name="q"><button id="send">Send</button><button id="reset" type="reset">Reset</button></form>
<form toolname="ask" tooldescription="Second of a name"></form><form toolname="no words"></form><form toolname="bad name" tooldescription="x"></form>
<script>
  window.submits = [];
  document.querySelector("#book").addEventListener("submit", (event) => {
    event.preventDefault();
    const data = [...new FormData(event.target)].filter(([, value]) => value !== "");
    submits.push([event.agentInvoked === true, data]);
    event.respondWith?.(Promise.resolve({ booked: data.length }));
  });
  document.querySelector("#ask").addEventListener("submit", (event) => { event.preventDefault(); submits.push([event.agentInvoked === true, [...new FormData(event.target)]]); });
</script>`;

/** Some shapes of browsers: Chrome 160 has \`null\` and a class whose members are the prototype's; before 155 the input is a text. */
const NATIVE = `
  const kept = new Map();
  window.ran_natively = [];
  class Tool { #tool; constructor(tool) { this.#tool = tool; }
    get name() { return this.#tool.name; } get description() { return this.#tool.description ?? null; } get title() { return null; } get annotations() { return null; }
    get inputSchema() { return this.#tool.inputSchema ?? null; } get window() { return this.#tool.window ?? window; } get source() { return "imperative"; } }
  class ModelContext extends EventTarget {
    async registerTool(tool, { signal } = {}) { kept.set(tool.name, tool); signal?.addEventListener("abort", () => kept.delete(tool.name)); }
    async getTools() { return [new Tool({ name: "add", description: "Of a frame", window: {} }), ...[...kept.values()].map((tool) => new Tool(tool))]; }
    async executeTool(tool, input, { signal } = {}) {
      if (!(tool instanceof Tool) || tool.window !== window) throw new TypeError("no tool of this document");
      ran_natively.push(window.wantsText ? typeof \`\${input}\` : typeof input);
      return JSON.stringify(await kept.get(tool.name).execute(window.wantsText ? JSON.parse(\`\${input}\`) : structuredClone({ ...input }), { signal })) ?? null;
    }
  }
  const native = new ModelContext();
  Object.defineProperty(Document.prototype, "modelContext", { configurable: true, get: () => native });`;

/** One that somebody has put there before Harbor's script, and that gives nothing. */
const FAKES = [
  `Object.defineProperty(document, "modelContext", { get() { throw new Error("mine"); } });`,
  `Object.defineProperty(document, "modelContext", { value: { registerTool() { return 1; }, get getTools() { throw new Error("mine"); } } });`,
  `document.modelContext = 7;`,
];

const ADD = `{ name: "add", description: "Adds two numbers", inputSchema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } }, execute: ({ a, b }) => { window.calls = (window.calls ?? 0) + 1; return a + b; } }`;

async function ready(world: World, granted = true): Promise<Page> {
  const page = await modelPage(world, world.site.origin, granted);
  await page.run(HELP);
  return page;
}

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("a page registers a tool, and a run of the page calls it: it needs the model's yes and no other", () =>
      inBrowser.run((world: World) =>
        withEcho(world, async (echo) => {
          const page = await ready(world, false);
          await page.run(`await document.modelContext.registerTool(${ADD})`);
          assert.equal(((await page.run("return ran({ task: 'x', tools: [own('add')] })")) as { code: string }).code, "ERR_SCOPE_REQUIRED");
          await world.harbor.cli("grant", world.site.origin, "model:prompt", "--always");
          echo.script.push(async () => ({ tool: "add", args: { a: 20, b: 22 } }), async (told) => `it is ${told}`);
          const { events, calls } = (await page.run("return { ...(await ran({ task: 'Add 20 and 22', tools: [own('add')] })), calls: window.calls }")) as { events: any[]; calls: number };
          const tool = `page:${world.site.origin.replace("http://", "")}/add`;
          assert.deepEqual(events.map(({ type }) => type).filter((type) => type !== "token"), ["tool_call", "tool_result", "final"]);
          assert.deepEqual(events.map(({ seq }) => seq), events.map((_, at) => at));
          assert.deepEqual([events[0].tool, events[0].args, events[1].result, events[1].callId], [tool, { a: 20, b: 22 }, { content: [{ type: "text", text: "42" }] }, events[0].callId]);
          assert.deepEqual([events.at(-1).output, calls, echo.asked.length], ["it is 42", 1, 2]);
        }),
      ));

    test("what a run refuses, and what its tools do wrong, ends it or is told to the model", () =>
      inBrowser.run((world: World) =>
        withEcho(world, async (echo) => {
          const page = await ready(world);
          await page.run(`window.tool = (name, execute, options) => document.modelContext.registerTool({ name, description: name, execute }, options);
            await document.modelContext.registerTool(${ADD});
            await tool("throws", () => { throw new Error("no luck"); });
            await tool("cycle", () => { const one = {}; one.one = one; return one; });
            await tool("huge", () => "x".repeat(400000));
            window.stop = new AbortController();
            await tool("leaves", () => { stop.abort(); return "still said"; }, { signal: stop.signal });
            window.ends = [];
            await tool("hangs", (_, { signal }) => { window.hangs = true; return new Promise(() => signal.addEventListener("abort", () => ends.push(String(signal.reason)))); });`);
          const code = async (options: string) => ((await page.run(`return ran(${options})`)) as { code: string }).code;
          for (const [options, wanted] of [
            ["{ task: 'x', tools: [own('none')] }", "ERR_TOOL_NOT_FOUND"],
            ["{ task: 'x', tools: [own('add'), 'time/now'] }", "ERR_INVALID_REQUEST"],
            ["{ task: 'x', tools: [own('add')], sessionId: 's' }", "ERR_INVALID_REQUEST"],
            ["{ task: 'x', tools: [own('add')], requireCitations: true }", "ERR_INVALID_REQUEST"],
            ["{ task: ' ', tools: [own('add')] }", "ERR_INVALID_REQUEST"],
          ] as const) assert.equal(await code(options), wanted, options);
          assert.equal(echo.asked.length, 0);
          const call = (tool: string, args = {}) => async () => ({ tool, args });
          echo.script.push(call("throws"), call("cycle"), call("huge"), call("leaves"), call("leaves"), call("none"), async () => "done");
          const { events } = (await page.run("return ran({ task: 'x', tools: [own('*')], maxToolCalls: 20 })")) as { events: any[] };
          const said = events.filter(({ type }) => type === "tool_result").map(({ result, error }) => error?.code ?? [result.isError === true, result.content[0].text]);
          assert.deepEqual(said[0], [true, "no luck"]);
          assert.equal(said[1][0], true);
          assert.deepEqual(said.slice(2), ["ERR_INVALID_REQUEST", [false, "still said"], "ERR_TOOL_NOT_FOUND", "ERR_TOOL_NOT_FOUND"]);
          assert.equal(events.at(-1).output, "done");
          // At the limit the model is offered no tool any more.
          echo.script.push(call("add", { a: 1, b: 2 }), async () => "enough");
          const limited = (await page.run("return ran({ task: 'x', tools: [own('add')], maxToolCalls: 1 })")) as { events: any[] };
          assert.deepEqual([limited.events.at(-1).output, echo.asked.at(-1)?.tools], ["enough", undefined]);
          // Who leaves ends the page's tool, too.
          echo.script.push(call("hangs"));
          const aborted = await page.run(`const leave = new AbortController();
            const run = ran({ task: 'x', tools: [own('hangs')], signal: leave.signal });
            while (window.hangs !== true) await new Promise((next) => setTimeout(next, 5));
            leave.abort(new Error("enough"));
            return [(await run).message, ends]`);
          assert.deepEqual(aborted, ["enough", ["Error: enough"]]);
          // Switched off it is off, and features say so.
          const options = await world.browser.open(world.browser.apiUrl("options.html"));
          await options.click("#pageTools");
          await until("it to be off", async () => (await code("{ task: 'x', tools: [own('add')] }")) === "ERR_FEATURE_DISABLED" || undefined);
          assert.equal(await page.run("return (await agent.capabilities()).features.pageTools"), false);
        }),
      ));

    test("a page that goes, and a background that ends, leave no run behind, and the page's tool hears of it", () =>
      inBrowser.run((world: World) =>
        withEcho(world, async (echo) => {
          const page = await ready(world);
          const hang = `await document.modelContext.registerTool({ name: "hang", description: "d", execute: (_, { signal }) => { window.hangs = true; return new Promise(() => signal.addEventListener("abort", () => (window.heard = true))); } });`;
          await page.run(`${hang} window.events = []; (async () => { for await (const event of agent.run({ task: "<hang>", tools: [own("hang")] })) events.push(event); })()`);
          await until("the model to write", async () => (await page.run("return events.length > 0")) || undefined);
          await page.goto(`${world.site.origin}/`);
          await echo.leaving(1);
          await page.run(HELP);
          echo.script.push(async () => ({ tool: "hang", args: {} }));
          await page.run(`${hang} window.run = ran({ task: "x", tools: [own("hang")] })`);
          await until("the tool to run", async () => (await page.run("return window.hangs === true")) || undefined);
          await world.browser.endBackgrounds(page);
          const { events } = (await page.run("return window.run")) as { events: any[] };
          assert.deepEqual(events.map(({ type }) => type), ["tool_call", "error"]);
          assert.deepEqual([events[1].error.retryable, await page.run("return heard")], [true, true]);
          echo.script.push(async () => "again");
          assert.equal(((await page.run("return ran({ task: 'x', tools: [own('hang')] })")) as { events: any[] }).events.at(-1).output, "again");
        }),
      ));

    test("forms are tools: filled in and submitted by the page's means or the person, and the page answers", () =>
      inBrowser.run(
        async (world: World) => {
          const page = await ready(world);
          const tools = (await page.run("return (await document.modelContext.getTools()).map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))")) as any[];
          const text = { type: "string" };
          assert.deepEqual(tools, [
            {
              ...{ name: "book", description: "Books a table" },
              inputSchema: {
                type: "object",
                properties: {
                  elements: { ...text, description: "Name" },
                  getAttribute: { type: "number", minimum: 1, maximum: 8, description: "How many people" },
                  when: { ...text, enum: ["noon", "evening"] },
                  seat: { ...text, enum: ["in", "out"] },
                  quiet: { type: "boolean" },
                  with: { type: "array", items: { ...text, enum: ["dog", "child"] } },
                  note: text,
                },
                required: ["elements"],
              },
            },
            { name: "ask", description: "Asks the person", inputSchema: { type: "object", properties: { q: text } } },
          ]);
          await page.run(`window.call = async (name, input, options) => tried(async () => { const all = await document.modelContext.getTools(); return document.modelContext.executeTool(all.find((one) => one.name === name), input, options); });`);
          const full = { elements: "Ada", getAttribute: 3, when: "evening", seat: "out", quiet: true, with: ["dog", "child"], note: "window" };
          assert.deepEqual(await page.run(`return call("book", ${JSON.stringify(full)})`), { value: '{"booked":9}' });
          await page.run("window.changes = 0; document.addEventListener('change', () => (window.changes += 1)); document.addEventListener('input', () => (window.changes += 100))");
          await page.run(`return call("book", ${JSON.stringify({ ...full, note: "bar", with: ["dog"] })})`);
          assert.equal(await page.run("return changes"), 202, "of the two controls that have changed");
          await page.run("return submits.pop()");
          const [invoked, data] = (await page.run("return submits.pop()")) as [boolean, [string, string][]];
          assert.deepEqual([invoked, data.filter(([name]) => name !== "token")], [true, [["elements", "Ada"], ["getAttribute", "3"], ["when", "evening"], ["seat", "out"], ["quiet", "on"], ["with", "dog"], ["with", "child"], ["note", "window"]]]);
          for (const [wrong, words] of [["{ when: 'dawn' }", /when must be noon,evening/], ["{ secret: 'x' }", /secret must be a control/], ["{ elements: '' }", /must be valid/], ["{ getAttribute: 99 }", /must be valid/]] as const) {
            const { name, message } = (await page.run(`return call("book", ${wrong})`)) as { name: string; message: string };
            assert.deepEqual([name, words.test(message)], ["UnknownError", true], `${wrong}: ${message}`);
            await page.run("document.querySelector('#book').reset(); document.querySelector('#book').querySelector('input').value = 'Ada'");
          }
          assert.deepEqual(await page.run("return submits"), []);
          // Without toolautosubmit the person does it; or not.
          await page.run(`window.pending = call("ask", { q: "why" })`);
          await until("the form to be filled in", async () => (await page.run("return document.querySelector('[name=q]').value")) === "why" || undefined);
          await page.click("#send");
          assert.deepEqual([await page.run("return pending"), await page.run("return submits.pop()")], [{ value: "null" }, [true, [["q", "why"]]]]);
          await page.click("#send");
          assert.deepEqual(await page.run("return submits.pop()"), [false, [["q", "why"]]]);
          await page.run(`window.leave = new AbortController(); window.pending = [call("ask", { q: "again" }), call("ask", {}, { signal: leave.signal })]; await new Promise((next) => setTimeout(next, 5)); leave.abort(new Error("mine"))`);
          await until("the form to be filled in", async () => (await page.run("return document.querySelector('[name=q]').value")) === "again" || undefined);
          assert.equal(((await page.run("return pending[1]")) as { message: string }).message, "mine");
          await page.click("#reset");
          assert.match(((await page.run("return pending[0]")) as { message: string }).message, /reset/);
        },
        { page: FORMS },
      ));

    test("tools of a frame are the frame's, under whatever name", () =>
      inBrowser.run((world: World) =>
        withEcho(world, async (echo) => {
          const page = await ready(world);
          await page.run(`await document.modelContext.registerTool(${ADD}); await agent.permissions.list()`);
          const framed = () => page.run("window.frame?.remove(); window.frame = document.createElement('iframe'); frame.src = '/frame'; const loaded = new Promise((done) => (frame.onload = done)); document.body.append(frame); await loaded; return 'agent' in frame.contentWindow");
          await until("frames to have the API", async () => (await framed()) || undefined);
          await page.run('await frame.contentDocument.modelContext.registerTool({ name: "add", description: "Of the frame", execute: () => "the frame\'s" })');
          echo.script.push(async () => ({ tool: "add", args: { a: 1, b: 1 } }), async () => "x");
          const { events } = (await page.run("return ran({ task: 'x', tools: [own('*')] })")) as { events: any[] };
          assert.deepEqual([events[1].result.content[0].text, echo.asked[0]?.tools?.length], ["2", 1]);
          assert.equal(await page.run("const tools = frame.contentDocument.modelContext; return tools.executeTool((await tools.getTools())[0], {})"), "the frame's");
        }),
      ));

    test("a browser that keeps tools of pages keeps them, in each of its shapes, and runs each call once", () =>
      inBrowser.run(
        (world: World) =>
          withEcho(world, async (echo) => {
            const page = await ready(world);
            assert.deepEqual(await page.run("return [harbor.native.modelContext, document.modelContext.constructor.name, document.modelContext === harbor.modelContext]"), ["document", "ModelContext", false]);
            await page.run(`await document.modelContext.registerTool(${ADD}); await harbor.modelContext.addTool({ name: "old", description: "Old", handler: () => "old" });`);
            const run = async (tool: string, args: object) => {
              echo.script.push(async () => ({ tool, args }), async (told) => told);
              return ((await page.run("return ran({ task: 'x', tools: [own('*')] })")) as { events: any[] }).events.at(-1).output;
            };
            assert.deepEqual([await run("add", { a: 1, b: 2 }), await run("old", {})], ["3", "old"]);
            await page.run("window.wantsText = true");
            assert.equal(await run("add", { a: 2, b: 2 }), "4");
            assert.deepEqual(await page.run("return [window.calls, ran_natively]"), [2, ["object", "object", "string"]]);
            await page.run("harbor.modelContext.removeTool('old')");
            assert.deepEqual(await page.run("return [(await document.modelContext.getTools()).map(({ name }) => name), harbor.modelContext.tools]"), [["add", "add"], []]);
          }),
        { native: NATIVE },
      ));

    // Firefox has an older form on `navigator`, behind a switch.
    if (inBrowser.name === "chrome") {
      test("Chromium's own modelContext, where it is switched on, has the page's tools and forms, and a run uses them", () =>
        inBrowser.run(
          (world: World) =>
            withEcho(world, async (echo) => {
              const page = await ready(world);
              await page.run(`await document.modelContext.registerTool(${ADD}); await harbor.modelContext.addTool({ name: "old", description: "Old", handler: () => ({ old: true }) });`);
              assert.deepEqual(await page.run("return [harbor.native.modelContext, /native code/.test(document.modelContext.registerTool)]"), ["document", true]);
              echo.script.push(async () => ({ tool: "add", args: { a: 20, b: 22 } }), async () => ({ tool: "old", args: {} }), async () => "done");
              const { events } = (await page.run("return ran({ task: 'x', tools: [own('add'), own('old')] })")) as { events: any[] };
              assert.deepEqual(events.filter(({ type }) => type === "tool_result").map(({ result }) => result), [{ content: [{ type: "text", text: "42" }] }, { content: [{ type: "text", text: '{"old":true}' }], structuredContent: { old: true } }]);
              assert.deepEqual([await page.run("return window.calls"), echo.asked[0]?.tools?.length], [1, 2]);
              await page.run("harbor.modelContext.removeTool('old')");
              echo.script.push(async () => ({ tool: "book", args: { elements: "Ada" } }), async () => "done");
              const booked = (await page.run("return ran({ task: 'x', tools: [own('*')] })")) as { events: any[] };
              assert.deepEqual(echo.asked.at(-1)?.tools?.map(({ function: { name } }) => name).sort(), ["add", "ask", "book"]);
              assert.match(booked.events[1].result.content[0].text, /booked/);
            }),
          { page: FORMS, switches: ["--enable-features=WebMCP"] },
        ));
    }

    for (const [at, fake] of FAKES.entries()) {
      test(`one that somebody put there and that gives no tools stays, and ours is harbor's (${at + 1})`, () =>
        inBrowser.run(
          (world: World) =>
            withEcho(world, async (echo) => {
              const page = await ready(world);
              await page.run(`await harbor.modelContext.registerTool(${ADD})`);
              echo.script.push(async () => ({ tool: "add", args: { a: 3, b: 4 } }), async (told) => told);
              const { events } = (await page.run("return ran({ task: 'x', tools: [own('add')] })")) as { events: any[] };
              assert.equal(events.at(-1).output, "7");
              assert.equal(await page.run("try { return document.modelContext === harbor.modelContext } catch (error) { return error.message === 'mine' ? 'theirs' : 'x' }"), at === 0 ? "theirs" : false);
            }),
          { native: fake },
        ));
    }
  });
}
