// LanguageModel, clause by clause, on ours in both browsers: one browser and one Harbor for all of it.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Page, textOf } from "../driver/browser.ts";
import { type Became, became, modelPage, withEcho } from "../driver/models.ts";
import { type World, inBrowsers } from "../driver/world.ts";

const SCHEMA = "{ type: 'object', properties: { Rating: { type: 'number' } }, required: ['Rating'] }";
const TOOL = (name: string, more = "") => `{ name: "${name}", description: "d", inputSchema: { type: "object" } ${more} }`;

/** What pages see by their names. */
const NAMES = [
  ...["LanguageModel", "LanguageModelToolCall", "LanguageModelToolSuccess", "LanguageModelToolError", "constructor", "prompt", "promptStreaming", "append", "measureContextUsage", "clone", "destroy"],
  ...["contextUsage", "contextWindow", "samplingMode", "oncontextoverflow"],
];

/** A page with a session in \`s\`; what becomes of \`source\`. */
const inSession = (page: Page, source: string, options = ""): Promise<Became> => became(page, `const s = await LM.create(${options}); ${source}`);

/** Fails as the standard says: each input with the name of its error. */
async function names(page: Page, inputs: [string, string][]): Promise<void> {
  for (const [source, name] of inputs) {
    const found = await became(page, source);
    assert.equal(found.name, name, `${source}: ${JSON.stringify(found)}`);
  }
}

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("LanguageModel", (t) =>
      inBrowser.run((world: World) =>
        withEcho(world, async (echo, origin) => {
          await t.test("states and names", async () => {
            const native = inBrowser.name === "chrome";
            const page = await modelPage(world, await origin(), false);
            const found = await page.run(`return {
              ours: LM.isHarbor, native: typeof window.LanguageModel === "function" && window.LanguageModel.isHarbor !== true,
              same: window.LanguageModel === harbor.LanguageModel, ai: typeof ai.createTextSession, version: harbor.version.split(".").length,
              detected: harbor.chromeAiDetected, tools: typeof LanguageModelToolCall, tag: String(LM.prototype), illegal: (await tried(() => new LM())).name,
              // The code as it is sent has names of its own; what a page sees has those of the standard.
              names: [LM, LanguageModelToolCall, LanguageModelToolSuccess, LanguageModelToolError].map(({ name }) => name).concat(Object.getOwnPropertyNames(LM.prototype)),
            }`);
            assert.deepEqual(found, { ours: true, native, same: !native, ai: "function", version: 3, detected: native, tools: "function", tag: "[object LanguageModel]", illegal: "TypeError", names: NAMES });
            // A model, but nobody has answered; a click is needed to ask.
            assert.equal((await became(page, "return LM.availability()")).value, "downloadable");
            await names(page, [["return LM.create()", "NotAllowedError"]]);
            await world.harbor.cli("grant", await page.run("return origin") as string, "model:prompt", "--deny");
            assert.equal((await became(page, "return LM.availability()")).value, "unavailable");
            await names(page, [["return LM.create()", "NotAllowedError"]]);
          });

          await t.test("a click asks the person, whose answer is the session", async () => {
            const page = await modelPage(world, await origin(), false);
            await page.run("document.querySelector('#ask').onclick = () => { window.asked = settled(LM.create().then((s) => s.prompt('Hello'))); window.joined = settled(LM.create().then(() => 'joined')); }");
            await page.click("#ask");
            const consent = await world.browser.find("consent.html");
            await textOf(consent, "#origin");
            assert.equal((await became(page, "return LM.availability()")).value, "downloading");
            await consent.click("#deny");
            assert.equal(((await page.run("return asked")) as Became).name, "NotAllowedError");
            assert.equal(((await page.run("return joined")) as Became).name, "NotAllowedError");
            // As create() would be at the next click: refused.
            assert.equal((await became(page, "return LM.availability()")).value, "unavailable");
            const other = await modelPage(world, await origin(), false);
            await other.run("document.querySelector('#ask').onclick = () => { window.asked = settled(LM.create().then((s) => s.prompt('Hello'))); window.joined = settled(LM.create().then(() => 'joined')); }");
            await other.click("#ask");
            const again = await world.browser.find("consent.html");
            await textOf(again, "#origin");
            await again.click("#always");
            assert.deepEqual(await other.run("return Promise.all([asked, joined])"), [{ value: "Hello" }, { value: "joined" }]);
            assert.equal((await became(other, "return LM.availability()")).value, "available");
          });

          await t.test("availability and create read their options as the standard does", async () => {
            const page = await modelPage(world, await origin());
            const states = (await page.run(`return Promise.all([{}, undefined, null, { expectedInputs: [{ type: "image" }] }, { expectedInputs: [{ type: "text", languages: ["EN", "de-AT"] }] },
              { expectedInputs: [{ type: "audio" }] }, { expectedOutputs: [{ type: "audio" }] }].map((options) => LM.availability(options)))`)) as string[];
            assert.deepEqual(states, ["available", "available", "available", "available", "available", "unavailable", "unavailable"]);
            // More than may be open at once: what is not answered is no answer.
            const flood = (await page.run("return Promise.all(Array.from({ length: 300 }, () => tried(() => LM.availability())))")) as Became[];
            const said = new Set(flood.map(({ value, name }) => value ?? name));
            said.delete("UnknownError");
            assert.deepEqual([...said], ["available"]);
            await names(page, [
              ["return LM.availability(7)", "TypeError"],
              ["return LM.availability({ expectedInputs: [{ type: 'smell' }] })", "TypeError"],
              ["return LM.availability({ expectedInputs: 'text' })", "TypeError"],
              ["return LM.availability({ expectedInputs: [{ type: 'text', languages: ['en-abc-invalid'] }] })", "RangeError"],
              ["return LM.create('x')", "TypeError"],
              ["return LM.create({ signal: {} })", "TypeError"],
              ["return LM.create({ monitor: 1 })", "TypeError"],
              ["return LM.create({ initialPrompts: 'x' })", "TypeError"],
              ["return LM.create({ initialPrompts: [{ role: 'user' }] })", "TypeError"],
              ["return LM.create({ initialPrompts: [{ role: 'robot', content: 'x' }] })", "TypeError"],
              ["return LM.create({ initialPrompts: [{ role: 'user', content: 'x' }, { role: 'system', content: 'y' }] })", "TypeError"],
              ["return LM.create({ initialPrompts: [{ role: 'system', content: 'x' }, { role: 'system', content: 'y' }] })", "TypeError"],
              ["return LM.create({ expectedInputs: [{ type: 'audio' }] })", "NotSupportedError"],
              ["return LM.availability({ samplingMode: 'banana' })", "TypeError"],
              ["return LM.create({ samplingMode: null })", "TypeError"],
              ["return LM.create({ monitor() { throw new RangeError('mine'); } })", "RangeError"],
              ["return LM.create({ signal: aborting() })", "AbortError"],
              ["return LM.create({ signal: aborting(new RangeError('mine')) })", "RangeError"],
              ["return LM.create({ expectedInputs: { get [Symbol.iterator]() { throw new RangeError('mine'); } } })", "RangeError"],
            ]);
          });

          await t.test("create tells how far it is, and can be aborted at each step", async () => {
            const page = await modelPage(world, await origin());
            const events = await page.run(`const events = [];
              let done = false;
              let handled = 0;
              const s = await LM.create({ monitor: (m) => { m.ondownloadprogress = () => (handled += 1); m.addEventListener("downloadprogress", ({ loaded, total, lengthComputable }) => events.push([loaded, total, lengthComputable, done])); } });
              done = true;
              await s.measureContextUsage("x");
              return [events, handled, s instanceof LM, s.contextUsage, s.contextWindow, s.oncontextoverflow, typeof s.topK];`);
            assert.deepEqual(events, [[[0, 1, true, false], [1, 1, true, false]], 2, true, 0, 4096, null, "undefined"]);
            for (const at of [0, 1]) {
              const aborted = await became(page, `const controller = new AbortController();
                return LM.create({ signal: controller.signal, monitor: (m) => m.addEventListener("downloadprogress", ({ loaded }) => loaded === ${at} && controller.abort(new RangeError("mine"))) })`);
              assert.equal(aborted.name, "RangeError");
            }
            const later = await page.run(`const controller = new AbortController();
              const s = await LM.create({ signal: controller.signal });
              const under = tried(() => s.prompt("<silent>"));
              controller.abort(new RangeError("mine"));
              return [(await under).name, (await tried(() => s.prompt("x"))).name, (await tried(() => s.clone())).name]`);
            assert.deepEqual(later, ["RangeError", "RangeError", "RangeError"]);
            const copied = await page.run(`const s = await LM.create();
              const before = await tried(() => s.clone({ signal: aborting(new RangeError("mine")) }));
              const controller = new AbortController();
              const copy = await s.clone({ signal: controller.signal });
              controller.abort(new RangeError("mine"));
              return [before.name, (await tried(() => copy.prompt("x"))).name, await s.prompt("and on")]`);
            assert.deepEqual(copied, ["RangeError", "RangeError", "and on"]);
          });

          await t.test("prompt says what the model says; what is no text becomes one", async () => {
            const page = await modelPage(world, await origin());
            const said = await page.run(`const s = await LM.create();
              return [await s.prompt("Hello, model"), await s.prompt(null), await s.prompt(undefined), await s.prompt({}), ...(await Promise.all(["", [], [{ role: "user", content: [] }], [{ role: "user", content: [{ type: "text", value: "" }] }]].map(async (input) => (await LM.create()).prompt(input)))),
                await s.prompt([{ role: "user", content: [{ type: "text", value: "a" }, { type: "text", value: 7 }] }]), await s.prompt(new Set([{ role: "user", content: "of a set" }]))]`);
            assert.deepEqual(said, ["Hello, model", "null", "undefined", "[object Object]", "", "", "", "", "a\n\n7", "of a set"]);
            await names(page, [
              ["return (await LM.create()).prompt('x', 7)", "TypeError"],
              ["return (await LM.create()).prompt([7])", "TypeError"],
              ["return (await LM.create()).prompt([{ role: 'user', content: [{ type: 'text' }] }])", "TypeError"],
              ["return (await LM.create()).prompt([{ role: 'user', content: [{ type: 'text', value: {} }] }])", "SyntaxError"],
              ["return (await LM.create()).prompt([{ role: 'user', content: [{ type: 'image', value: new ImageData(1, 1) }] }])", "NotSupportedError"],
              ["return (await LM.create({ expectedInputs: [{ type: 'image' }] })).prompt([{ role: 'assistant', content: [{ type: 'image', value: new ImageData(1, 1) }] }])", "NotSupportedError"],
              ["return (await LM.create()).prompt([{ role: 'user', content: [{ type: 'audio', value: new ArrayBuffer(1) }] }])", "NotSupportedError"],
              ["return (await LM.create()).prompt([{ role: 'user', content: 'x' }, { role: 'system', content: 'y' }])", "TypeError"],
              ["const s = await LM.create(); await s.append('x'); return s.prompt([{ role: 'system', content: 'y' }])", "TypeError"],
              ["return (await LM.create()).prompt([{ role: 'user', content: 'x', prefix: true }])", "SyntaxError"],
              ["return (await LM.create()).prompt([{ role: 'assistant', content: 'x', prefix: true }, { role: 'user', content: 'y' }])", "SyntaxError"],
              ["return (await LM.create()).prompt('x'.repeat(2e6))", "QuotaExceededError"],
              ["return (await LM.create()).prompt('<refuse>')", "NotReadableError"],
              ["return (await LM.create()).prompt('<cut>')", "UnknownError"],
            ]);
          });

          await t.test("how freely a model chooses its words is an option, and goes to it as settings that all models have", async () => {
            const page = await modelPage(world, await origin());
            const before = echo.asked.length;
            const modes = await page.run(`const modes = [];
              for (const samplingMode of ["most-predictable", "predictable", "balanced", "creative", "most-creative", undefined]) {
                const s = await (await LM.create({ samplingMode, temperature: 0.8, topK: 10 })).clone();
                await s.prompt("x");
                modes.push(s.samplingMode, s.temperature === undefined);
              }
              return modes;`);
            assert.deepEqual(modes, ["most-predictable", true, "predictable", true, "balanced", true, "creative", true, "most-creative", true, "balanced", true]);
            const sent = echo.asked.slice(before).map(({ temperature = null, top_p = null }) => [temperature, top_p]);
            assert.deepEqual(sent, [[0, null], [0.4, null], [null, null], [1, null], [1, 1], [null, null]]);
          });

          await t.test("where only the system has spoken no model is asked", async () => {
            const page = await modelPage(world, await origin());
            const before = echo.asked.length;
            const said = await page.run(`const s = await LM.create({ initialPrompts: [{ role: "system", content: "be brief" }] });
              return [await s.prompt(""), await s.prompt("  "), await read(s.promptStreaming("")), await s.prompt("<roles>")]`);
            assert.deepEqual([said, echo.asked.length - before], [["", "", [], "system user"], 1]);
          });

          await t.test("promptStreaming gives pieces, in order, once each", async () => {
            const page = await modelPage(world, await origin());
            const found = (await page.run(`const s = await LM.create();
              const stream = s.promptStreaming("<many 500>");
              const pieces = await read(stream);
              return [stream instanceof ReadableStream, pieces.join(""), pieces.length > 20, pieces.every((one) => typeof one === "string"), await s.prompt("<roles>")]`)) as unknown[];
            assert.deepEqual(found, [true, Array.from({ length: 500 }, (_, at) => `${at} `).join(""), true, true, "user assistant user"]);
            assert.equal((await inSession(page, "return read(s.promptStreaming('<cut>'))")).name, "UnknownError");
            // Who reads no further has left the model.
            const before = echo.left.length;
            await page.run("const s = await LM.create(); for await (const one of s.promptStreaming('<hang>')) break;");
            await echo.leaving(before + 1);
          });

          await t.test("the history holds what was answered, and nothing of what failed", async () => {
            const page = await modelPage(world, await origin());
            const found = await page.run(`const s = await LM.create({ initialPrompts: [{ role: "system", content: "be brief" }] });
              await s.append([{ role: "user", content: "one" }, { role: "assistant", content: "two" }]);
              const roles = [await s.prompt("<roles>")];
              await tried(() => s.prompt("<cut>"));
              await tried(() => s.prompt("<refuse>"));
              const controller = new AbortController();
              const under = tried(() => s.prompt("<silent>", { signal: controller.signal }));
              controller.abort();
              roles.push((await under).name, await s.prompt("<roles>"));
              const copy = await s.clone();
              roles.push(copy.contextUsage === s.contextUsage, copy.contextWindow === s.contextWindow, copy instanceof LM);
              await copy.prompt("more");
              roles.push((await s.prompt("<roles>")).split(" ").length, (await copy.prompt("<roles>")).split(" ").length);
              const both = await Promise.all([s.prompt("a"), s.prompt("b")]);
              return [...roles, ...both, await s.append("x") === undefined];`);
            assert.deepEqual(found, ["system user assistant user", "AbortError", "system user assistant user assistant user", true, true, true, 8, 10, "a", "b", true]);
            // Models do not continue a beginning of their answer, so it is not sent.
            const asked = echo.asked.length;
            const refused = `return (await LM.create()).prompt([{ role: "user", content: "hello" }, { role: "assistant", content: "{", prefix: true }]).catch((error) => error.name)`;
            assert.deepEqual([await page.run(refused), echo.asked.length], ["NotSupportedError", asked]);
          });

          await t.test("aborts reject with the very reason: before, while it works, while it waits, and after nothing", async () => {
            const page = await modelPage(world, await origin());
            const before = echo.left.length;
            const found = await page.run(`const s = await LM.create();
              const reason = { mine: true };
              const same = [];
              for (const method of ["prompt", "append", "measureContextUsage", "promptStreaming"]) {
                await new Promise((resolve) => resolve(s[method]("x", { signal: aborting(reason) }))).catch((error) => same.push(error === reason));
              }
              const controller = new AbortController();
              const first = s.prompt("<hang>", { signal: controller.signal }).catch((error) => error === reason);
              const waiting = new AbortController();
              const second = s.prompt("x", { signal: waiting.signal }).catch((error) => error === reason);
              waiting.abort(reason);
              same.push(await second);
              controller.abort(reason);
              same.push(await first);
              const third = new AbortController();
              same.push(await read(s.promptStreaming("<hang>", { signal: third.signal }), () => third.abort(reason)).catch((error) => error === reason));
              const fourth = new AbortController();
              const text = await s.prompt("done", { signal: fourth.signal });
              fourth.abort(reason);
              return [same, text, await s.prompt("and on")];`);
            assert.deepEqual(found, [[true, true, true, true, true, true, true], "done", "and on"]);
            await echo.leaving(before + 1);
          });

          await t.test("destroy ends what is under way, and all that comes after", async () => {
            const page = await modelPage(world, await origin());
            const found = await page.run(`const s = await LM.create();
              const under = tried(() => s.prompt("<hang>"));
              const streaming = tried(() => read(s.promptStreaming("<hang>")));
              s.destroy();
              s.destroy();
              const after = [];
              for (const method of ["prompt", "append", "measureContextUsage", "clone", "promptStreaming"]) after.push((await tried(() => s[method]("x"))).name);
              return [(await under).name, (await streaming).name, ...after, typeof s.contextUsage]`);
            assert.deepEqual(found, ["AbortError", "AbortError", "AbortError", "AbortError", "AbortError", "AbortError", "AbortError", "number"]);
          });

          await t.test("a schema goes to the model, and what is none is refused", async () => {
            const page = await modelPage(world, await origin());
            const said = (await inSession(page, `return s.prompt("rate", { responseConstraint: ${SCHEMA} })`)).value as string;
            assert.deepEqual(JSON.parse(said), { Rating: 0 });
            assert.equal((await inSession(page, `return s.prompt("rate", { responseConstraint: ${SCHEMA}, omitResponseConstraintInput: true })`)).value, said);
            assert.deepEqual((echo.asked.at(-1)?.response_format?.json_schema?.schema as { required: unknown }).required, ["Rating"]);
            await names(page, [
              ["const schema = {}; schema.self = schema; return (await LM.create()).prompt('x', { responseConstraint: schema })", "NotSupportedError"],
              ["return (await LM.create()).prompt('x', { responseConstraint: { type: 'soup' } })", "NotSupportedError"],
              ["return (await LM.create()).prompt('x', { responseConstraint: /a/ })", "NotSupportedError"],
              // Right by the standard, and more than Harbor takes.
              ["let schema = { type: 'object' }; for (let deep = 0; deep < 600; deep += 1) schema = { type: 'object', properties: { a: schema } }; return (await LM.create()).prompt('x', { responseConstraint: schema })", "NotSupportedError"],
              ["return (await LM.create()).prompt('x', { responseConstraint: 'a' })", "TypeError"],
              ["return (await LM.create()).prompt('x', { omitResponseConstraintInput: true })", "TypeError"],
              ["return (await LM.create()).measureContextUsage('x', { omitResponseConstraintInput: true })", "TypeError"],
            ]);
          });

          await t.test("images go to the model as images, of every kind that a page has", async () => {
            const page = await modelPage(world, await origin());
            const found = await became(page, `const s = await LM.create({ expectedInputs: [{ type: "image" }] });
              const canvas = document.createElement("canvas");
              canvas.width = 3000; canvas.height = 30;
              canvas.getContext("2d").fillRect(0, 0, 100, 30);
              const blob = await new Promise((resolve) => canvas.toBlob(resolve));
              const said = [];
              for (const value of [canvas, blob, await blob.arrayBuffer(), await createImageBitmap(canvas), new ImageData(2, 2)]) {
                said.push(/^what\\[image of [0-9]+ letters\\]$/.test(await s.prompt([{ role: "user", content: [{ type: "text", value: "what" }, { type: "image", value }] }])));
              }
              said.push((await tried(() => s.prompt([{ role: "user", content: [{ type: "image", value: new Blob(["x"]) }] }]))).name);
              return said;`);
            assert.deepEqual(found.value, [true, true, true, true, true, "InvalidStateError"], JSON.stringify(found));
          });

          await t.test("how full the window is, and what is left out when it is full", async () => {
            const page = await modelPage(world, await origin());
            const found = (await page.run(`const s = await LM.create();
              const one = await s.measureContextUsage("How deep is a harbor?");
              await s.append("How deep is a harbor?");
              const appended = s.contextUsage === one;
              await s.append([]);
              const system = [{ role: "system", content: "The word of the day is banana." }];
              const t = await LM.create({ initialPrompts: system });
              const initial = (await t.measureContextUsage(system)) === t.contextUsage;
              await t.prompt("x".repeat(3000));
              const counted = t.contextUsage > 1000;
              const events = [];
              t.oncontextoverflow = (event) => events.push(event.type);
              t.addEventListener("contextoverflow", (event) => events.push(event.target === t));
              await t.append("y".repeat(9000));
              const over = await t.prompt("<roles>");
              return [one > 0, appended, initial, counted, events, over, await s.measureContextUsage([])];`)) as unknown[];
            assert.deepEqual(found, [true, true, true, true, ["contextoverflow", true], "system user", 0]);
            const full = await inSession(page, "return s.prompt('x'.repeat(20000))");
            assert.deepEqual([full.name, (full.requested ?? 0) > 4096, full.quota], ["QuotaExceededError", true, 4096]);
            const first = await became(page, "return LM.create({ initialPrompts: [{ role: 'system', content: 'word '.repeat(9000) }] })");
            assert.deepEqual([first.name, (first.requested ?? 0) > 4096, first.quota], ["QuotaExceededError", true, 4096]);
            // A provider that says so itself: what was said first is left out until nothing is.
            const said = await inSession(page, "await s.append('a'); let times = 0; s.oncontextoverflow = () => (times += 1); const got = await tried(() => s.prompt('<full>')); return [got.name, times]");
            assert.deepEqual(said.value, ["QuotaExceededError", 1]);
          });

          await t.test("tools with functions are run by the session, at the same time", async () => {
            const page = await modelPage(world, await origin());
            const found = await became(page, `const ran = [];
              const s = await LM.create({ tools: [
                ${TOOL("one", ", async execute(input) { ran.push(input); await 0; return { deep: 3 }; }")},
                ${TOOL("two", ", execute() { throw new Error('no such harbor'); }")},
              ] });
              const text = await s.prompt("<GenerateMultipleToolCalls>", {});
              return [ran, text, await s.prompt("<roles>")];`);
            assert.deepEqual(found.value?.[0], [{ input: "text" }], JSON.stringify(found));
            const told = echo.asked.at(-2)?.messages.slice(-3) as { role: string; content?: unknown; tool_calls?: unknown[] }[];
            assert.deepEqual(told.map(({ role }) => role), ["assistant", "tool", "tool"]);
            assert.match(JSON.stringify(told), /deep.*no such harbor/);
            assert.equal(found.value?.[2], "user assistant tool tool assistant user");
            // A function that never ends does not hold up who aborts.
            const aborted = await became(page, `const controller = new AbortController();
              const s = await LM.create({ tools: [${TOOL("one", ", execute() { controller.abort(new RangeError('mine')); return new Promise(() => {}); }")}] });
              return s.prompt("<GenerateSimpleToolCalls>", { signal: controller.signal })`);
            assert.equal(aborted.name, "RangeError");
            // A model that calls on and on comes to an end, too.
            const rounds = echo.asked.length;
            const endless = await became(page, `return (await LM.create({ tools: [${TOOL("one", ", execute: () => '<GenerateSimpleToolCalls>'")}] })).prompt("<GenerateSimpleToolCalls>")`);
            assert.deepEqual([endless.name, echo.asked.length - rounds], ["UnknownError", 21]);
          });

          await t.test("who expects calls gets them, and answers them", async () => {
            const page = await modelPage(world, await origin());
            const options = `{ expectedInputs: [{ type: "tool-response" }], expectedOutputs: [{ type: "tool-call" }], tools: [${TOOL("one")}, ${TOOL("two")}] }`;
            const found = await became(page, `const s = await LM.create(${options});
              const parts = await s.prompt("<GenerateMultipleToolCalls>");
              const [{ type, value }] = parts;
              const isCall = value instanceof LanguageModelToolCall;
              const answered = await s.prompt([{ role: "user", content: [
                { type: "tool-response", value: new LanguageModelToolSuccess({ callID: value.callID, name: value.name, result: [{ type: "text", value: "7 m" }, { type: "object", value: { deep: 7 } }] }) },
                { type: "tool-response", value: new LanguageModelToolError({ callID: parts[1].value.callID, name: "two", errorMessage: "no such harbor" }) }] }]);
              const streamed = (await read((await s.clone()).promptStreaming("<GenerateSimpleToolCalls>"))).map((one) => [one.type, one.value?.name]);
              return [parts.length, type, value.name, value.arguments, isCall, typeof answered, streamed, typeof (await s.prompt("Hello")),
                (await (await s.clone()).prompt("<GenerateSimpleToolCalls>both")).map(({ type, value }) => [type, value.name ?? value])];`);
            assert.deepEqual(found.value, [2, "tool-call", "one", { input: "text" }, true, "string", [["tool-call", "one"]], "string", [["text", "both"], ["tool-call", "one"]]], JSON.stringify(found));
            const bad = (tool: string) => `return LM.create({ expectedOutputs: [{ type: "tool-call" }], tools: [${tool}] })`;
            await names(page, [
              ...([`{ name: "", description: "d", inputSchema: { type: "object" } }`, `{ name: "a", description: "", inputSchema: { type: "object" } }`, `{ name: "a", description: "d" }`,
                `{ name: "a", description: "d", inputSchema: {} }`, `{ name: "a", description: "d", inputSchema: { type: "string" } }`, `{ name: "a", description: "d", inputSchema: { type: "object", properties: "x" } }`,
                `{ name: "a", description: "d", inputSchema: { type: "object", required: "x" } }`, `${TOOL("a")}, ${TOOL("a")}`,
                `(() => { const schema = { type: "object" }; schema.self = schema; return { name: "a", description: "d", inputSchema: schema }; })()`].map((tool): [string, string] => [bad(tool), "TypeError"])),
              [bad(`{ name: "a", description: "d", inputSchema: { type: "object", toJSON() { throw new RangeError("mine"); } } }`), "RangeError"],
              [`return LM.create({ tools: [${TOOL("a")}] })`, "TypeError"],
              ...(["image", "audio"].map((type): [string, string] => [`const s = await LM.create(${options}); return s.prompt([{ role: "user", content: [{ type: "tool-response", value: new LanguageModelToolSuccess({ callID: "a", name: "one", result: [{ type: "${type}", value: new ImageData(1, 1) }] }) }] }])`, "NotSupportedError"])),
              ...(["(() => { const a = {}; a.a = a; return a; })()", "() => 1", "10n", "document.createElement('i')"].map((value): [string, string] => [`const s = await LM.create(${options}); return s.prompt([{ role: "user", content: [{ type: "tool-response", value: new LanguageModelToolSuccess({ callID: "a", name: "one", result: [{ type: "text", value: ${value} }] }) }] }])`, "DataError"])),
            ]);
          });
        }),
      ));
  });
}
