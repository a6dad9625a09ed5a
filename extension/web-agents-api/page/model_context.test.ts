// `document.modelContext` of the script as it is built, in a world of its own: what it takes, what it refuses, and how often it speaks.

import assert from "node:assert/strict";
import { test } from "node:test";
import { createContext, runInContext } from "node:vm";
import { build } from "esbuild";
import { FakeChannel, handOver, pageGlobals } from "../../build/page_world.mjs";
import { MOCK, SCRIPTS, optionsOf } from "../../build/scripts.mjs";

const set = SCRIPTS["web-agents-api"].find(({ files }) => "injected" in files) ?? MOCK;
const DEFINE = { __VERSION__: '"0"', __BROWSER__: '"chrome"', __HARBOR_ID__: '"h"', __WEB_AGENTS_API_ID__: '"w"' };
const { outputFiles = [] } = await build({ ...optionsOf(set, "chrome", DEFINE), absWorkingDir: __ROOT__, outdir: "dist", write: false });
const script = outputFiles.find(({ path }) => path.endsWith("/injected.js"))?.text ?? "";

/** A page whose timers run when they are told to. */
function page(before = "") {
  const timers: { call: () => void; ms: number }[] = [];
  const globals = { ...pageGlobals(), setTimeout: (call: () => void, ms: number) => void timers.push({ call, ms }) };
  const world = createContext(globals);
  runInContext(before, world);
  runInContext(script, world);
  handOver(globals, new FakeChannel());
  const { document, window } = globals as { document: any; window: any };
  return { document, window, context: document.modelContext, timers, run: (source: string) => runInContext(source, world) };
}

const tool = (name: unknown, more: object = {}) => ({ name, description: "d", execute: (input: unknown) => input, ...more });
const named = (name: string) => ({ name });

test("what a tool may be: names, descriptions, schemas, and one of each name", async () => {
  const { context } = page();
  for (const name of ["", "a b", "ü", "a/b", "x".repeat(129)]) await assert.rejects(context.registerTool(tool(name)), named("InvalidStateError"), name);
  await assert.rejects(context.registerTool(tool("x", { description: "" })), named("InvalidStateError"));
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  for (const wrong of [undefined, null, 7, {}, tool(undefined), tool("x", { execute: 1 }), tool("x", { description: undefined }), tool("x", { inputSchema: "{}" }), tool("x", { inputSchema: null }), tool("x", { inputSchema: cycle }), tool("x", { inputSchema: { toJSON: () => undefined } }), tool(Symbol("x"))]) {
    await assert.rejects(context.registerTool(wrong), named("TypeError"), String(Object(wrong).name));
  }
  for (const name of ["a", "A.b_c-9", "x".repeat(128)]) await context.registerTool(tool(name));
  await assert.rejects(context.registerTool(tool("a")), named("InvalidStateError"));
  await assert.rejects(context.registerTool(tool("b"), { exposedTo: ["https://b.example"] }), named("NotSupportedError"));
  await assert.rejects(context.getTools({ fromOrigins: ["https://b.example"] }), named("NotSupportedError"));
  await assert.rejects(context.registerTool(tool("b"), { signal: {} }), named("TypeError"));
  assert.deepEqual([...(await context.getTools())].map(({ name }: { name: string }) => name), ["a", "A.b_c-9", "x".repeat(128)]);
});

test("what is given of a tool is a copy, claims among it, and null where nothing was said", async () => {
  const { context, window } = page();
  const inputSchema = { type: "object", properties: { a: { type: "number" } } };
  await context.registerTool(tool("a", { title: "A", inputSchema, annotations: { consequentialHint: true } }));
  await context.registerTool(tool("b"));
  inputSchema.type = "changed";
  const [a, b] = await context.getTools();
  assert.deepEqual(JSON.parse(JSON.stringify({ ...a, window: null })), { name: "a", title: "A", description: "d", inputSchema: { type: "object", properties: { a: { type: "number" } } }, annotations: { consequentialHint: true }, origin: "http://localhost", window: null });
  assert.deepEqual([a.window === window, b.title, b.inputSchema, b.annotations, Object.isFrozen(a)], [true, null, null, null, true]);
});

test("a tool that throws what has no text ends all the same", async () => {
  const { context, run } = page();
  const thrown = ["Object.create(null)", "Symbol('x')", "{ message: Symbol('x') }", "{ get message() { throw 5 } }", "new Proxy({}, { get() { throw 1 } })"];
  for (const [at, value] of thrown.entries()) {
    await context.registerTool(tool(`t${at}`, { execute: run(`() => { throw ${value} }`) }));
    const found = [...(await context.getTools())].at(-1);
    await assert.rejects(context.executeTool(found, {}), { name: "UnknownError", message: /^(it failed|\[object Object\])$/ }, value);
  }
});

test("an abort takes a tool away: before, after, and while it runs", async () => {
  const { context } = page();
  const aborted = AbortSignal.abort(new RangeError("mine"));
  await assert.rejects(context.registerTool(tool("a"), { signal: aborted }), RangeError);
  const controller = new AbortController();
  let finish: (value: unknown) => void = () => undefined;
  await context.registerTool(tool("a", { execute: () => new Promise((resolve) => (finish = resolve)) }), { signal: controller.signal });
  const [a] = await context.getTools();
  const running = context.executeTool(a, {});
  controller.abort();
  finish({ late: true });
  assert.equal(await running, '{"late":true}');
  assert.deepEqual([(await context.getTools()).length], [0]);
  await assert.rejects(context.executeTool(a, {}), named("UnknownError"));
  await context.registerTool(tool("a"));
});

test("a call gets a copy of its input and a signal; it gives JSON, or the page's error as one of the standard's", async () => {
  const { context } = page();
  const heard: any[] = [];
  await context.registerTool(tool("a", { execute: (input: any, { signal }: { signal: AbortSignal }) => (heard.push(input, signal), input.say) }));
  await context.registerTool(tool("bad", { execute: () => Promise.reject(new RangeError("full")) }));
  await context.registerTool(tool("hangs", { execute: (_: unknown, { signal }: { signal: AbortSignal }) => (heard.push(signal), new Promise(() => undefined)) }));
  const [a, bad, hangs] = await context.getTools();
  const input = { say: [1, "two"] };
  assert.equal(await context.executeTool(a, input), '[1,"two"]');
  assert.deepEqual([heard[0] === input, JSON.stringify(heard[0]), heard[1].aborted], [false, '{"say":[1,"two"]}', false]);
  assert.deepEqual([await context.executeTool(a, {}), await context.executeTool(a), await context.executeTool(a, { say: "a text" })], ["null", "null", "a text"]);
  await assert.rejects(context.executeTool(bad, {}), { name: "UnknownError", message: "full" });
  for (const [one, given] of [[undefined, {}], [{ name: "a" }, {}], [a, "{}"], [a, null], [a, 7], [a, { toJSON: () => undefined }]]) await assert.rejects(context.executeTool(one, given), named("TypeError"));
  await assert.rejects(context.executeTool(a, {}, { signal: AbortSignal.abort(new RangeError("mine")) }), RangeError);
  const controller = new AbortController();
  const hung = context.executeTool(hangs, {}, { signal: controller.signal });
  while (heard.length < 7) await new Promise(setImmediate);
  controller.abort(new RangeError("enough"));
  await assert.rejects(hung, RangeError);
  assert.deepEqual([heard.at(-1).aborted, heard.at(-1).reason.message], [true, "enough"]);
});

test("of 1,000 tools 64 are taken, and whoever listens hears of it at most once a second", async () => {
  const { context, timers } = page();
  let heard = 0;
  const handled: string[] = [];
  context.addEventListener("toolchange", () => (heard += 1));
  context.ontoolchange = ({ type }: Event) => handled.push(type);
  const ends = await Promise.allSettled(Array.from({ length: 1_000 }, (_, at) => context.registerTool(tool(`t${at}`))));
  assert.deepEqual([ends.filter(({ status }) => status === "fulfilled").length, (ends[999] as PromiseRejectedResult).reason.name], [64, "QuotaExceededError"]);
  assert.equal((await context.getTools()).length, 64);
  assert.deepEqual([heard, timers.map(({ ms }) => ms)], [0, [0]]);
  timers.shift()?.call();
  assert.deepEqual([heard, handled, timers.map(({ ms }) => ms)], [1, ["toolchange"], [1_000]]);
  // Nothing came since: the next change is told at once.
  timers.shift()?.call();
  const controllers = [new AbortController(), new AbortController()];
  const { context: other, timers: others } = page();
  for (const [at, { signal }] of controllers.entries()) await other.registerTool(tool(`u${at}`), { signal });
  others.shift()?.call();
  for (const controller of controllers) controller.abort();
  assert.deepEqual([heard, timers.length, others.map(({ ms }) => ms)], [1, 0, [1_000]]);
  others.shift()?.call();
  assert.deepEqual(others.map(({ ms }) => ms), [1_000]);
});

test("the old names add to the same tools and take away again; what another has put there stays", async () => {
  const { context, window } = page();
  const { modelContext } = window.harbor;
  await modelContext.addTool({ name: "old", description: "d", inputSchema: { type: "object" }, handler: ({ a }: { a: number }) => a + 1 });
  await assert.rejects(modelContext.addTool({ name: "old", description: "d", handler: () => 1 }), named("InvalidStateError"));
  await assert.rejects(modelContext.addTool(), named("TypeError"));
  const [old] = await context.getTools();
  assert.equal(await modelContext.executeTool(old, { a: 1 }), "2");
  assert.equal(JSON.stringify(modelContext.tools), '[{"name":"old","description":"d","inputSchema":{"type":"object"}}]');
  modelContext.removeTool("none");
  modelContext.removeTool("old");
  assert.deepEqual([JSON.stringify(modelContext.tools), (await context.getTools()).length], ["[]", 0]);
  const native = page("document.modelContext = { registerTool: (...given) => (document.given = given, undefined), getTools: () => [], executeTool: () => '1' };");
  await native.window.harbor.modelContext.registerTool({ name: "x" }, { signal: undefined });
  assert.deepEqual([native.document.given[0].name, native.context === native.document.modelContext, native.window.harbor.native.modelContext], ["x", true, "document"]);
});

test("what a page does to the built-ins later changes nothing", async () => {
  const { context, run } = page();
  await context.registerTool(tool("a"));
  run("JSON.parse = JSON.stringify = () => { throw new Error('mine'); }; Array.prototype[Symbol.iterator] = undefined; Object.prototype.get = () => 7; Reflect.apply = undefined");
  const all = await context.getTools();
  assert.equal(await context.executeTool(all[0], { b: 1 }), '{"b":1}');
});
