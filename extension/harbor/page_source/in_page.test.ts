// The tools of a page as its own world has them: which are offered, which call runs, and what comes of it. The page is made up.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Called, type Listed, MOST_TOOLS } from "./forms.ts";
import { InPage } from "./in_page.ts";

type Tool = { [name: string]: unknown };

/** A page with these tools; `run` is what they all do. */
function page(tools: unknown, run: (tool: unknown, input: any, options: { signal: AbortSignal }) => unknown = () => "done") {
  const context = Object.assign(new EventTarget(), { getTools: async () => tools, executeTool: async (...args: Parameters<typeof run>) => run(...args) });
  const document = Object.assign(new EventTarget(), { modelContext: context as unknown });
  const world = { location: { origin: "https://a.example" }, performance: { timeOrigin: 7.5 }, document };
  return { world, context, inPage: new InPage(world) };
}

const ADD = { name: "add", description: "Adds", inputSchema: { type: "object", properties: { 2: {}, a: {}, 1: {} } } };

const listed = async (inPage: InPage): Promise<Tool[]> => JSON.parse(((await inPage.act({ do: "list" })) as Listed).tools);

/** Calls a tool as it was listed. */
async function call(inPage: InPage, name: string, more: object = {}): Promise<Called> {
  const offer = (await listed(inPage)).find((one) => one["name"] === name);
  return (await inPage.act({ do: "call", key: "k", origin: "https://a.example", born: 7.5, name, mark: JSON.stringify(offer), input: '{"a":1}', ...more })) as Called;
}

test("tools are read attribute by attribute, also where they are a prototype's, null or a text", async () => {
  class Native {
    get name() { return "native"; }
    get description() { return "Of the browser"; }
    get title() { return null; }
    get annotations() { return null; }
    get inputSchema() { return '{"type":"object"}'; }
  }
  const claims = { ...ADD, title: "Add", annotations: { any: true }, execute: () => 1, origin: "https://a.example" };
  const { inPage } = page([new Native(), claims]);
  assert.deepEqual(await listed(inPage), [{ name: "native", description: "Of the browser", inputSchema: { type: "object" } }, { ...ADD, title: "Add", annotations: { any: true } }]);
});

test("what cannot be offered is left out, and of a frame's, of a second one of a name and of too many only the others are there", async () => {
  const cycle: Tool = {};
  cycle["one"] = cycle;
  const bad = [null, 7, { ...ADD, name: "a b" }, { ...ADD, name: "x".repeat(129) }, { name: "a" }, { ...ADD, description: "" }, { ...ADD, description: "x".repeat(4_001) }, { ...ADD, inputSchema: { a: "x".repeat(16_000) } }, { ...ADD, inputSchema: [] }, { ...ADD, inputSchema: cycle }, { ...ADD, inputSchema: () => 1 }, { ...ADD, window: {} }, { get name() { throw new Error("mine"); } }];
  assert.deepEqual(await listed(page([...bad, ADD, { ...ADD, description: "Second" }]).inPage), [{ ...ADD }]);
  assert.equal((await listed(page(Array.from({ length: 1_000 }, (_, at) => ({ ...ADD, name: `t${at}` }))).inPage)).length, MOST_TOOLS);
  for (const none of [undefined, null, 7, { length: 3 }]) assert.deepEqual(await listed(page(none).inPage), []);
});

test("tools are where the browser or Harbor has them; what only looks like it is passed over", async () => {
  for (const fake of [undefined, 7, { getTools: 1 }]) {
    const { world, inPage } = page([]);
    world.document.modelContext = fake;
    Object.assign(world, { harbor: { modelContext: { getTools: async () => [ADD], executeTool: async () => "x" } } });
    assert.equal((await listed(inPage)).length, 1);
  }
  const { world, inPage } = page([]);
  Object.defineProperty(world.document, "modelContext", { get() { throw new Error("mine"); } });
  assert.deepEqual(await listed(inPage), []);
});

test("a call runs once with its arguments, and gives a text or JSON", async () => {
  const given: unknown[] = [];
  const { inPage } = page([ADD], (tool, input) => (given.push([tool === ADD, { ...input }, `${input}`]), given.length === 1 ? "said" : given.length === 2 ? { sum: 3 } : undefined));
  assert.deepEqual([await call(inPage, "add"), await call(inPage, "add"), await call(inPage, "add")], [{ is: "result", text: "said" }, { is: "result", text: '{"sum":3}' }, { is: "result", text: "null" }]);
  assert.deepEqual(given[0], [true, { a: 1 }, '{"a":1}']);
  assert.equal(given.length, 3);
});

test("a tool that is another one than was offered does not run, and neither does one in another document", async () => {
  let ran = 0;
  const tool: Tool = { ...ADD };
  const { world, inPage } = page([tool], () => (ran += 1));
  const mark = JSON.stringify((await listed(inPage))[0]);
  for (const [name, other] of [["description", "Pays"], ["inputSchema", { type: "object", properties: {} }], ["title", "Add"], ["name", "sub"]] as const) {
    const before = tool[name];
    tool[name] = other;
    assert.equal((await call(inPage, "add", { mark })).is, "changed", name);
    tool[name] = before;
  }
  assert.equal((await call(inPage, "add", { origin: "https://b.example" })).is, "gone");
  world.performance.timeOrigin = 8;
  assert.equal((await call(inPage, "add", { mark })).is, "gone");
  assert.equal(ran, 0);
});

test("what a tool throws is its message, cut; what is too long is not given", async () => {
  const throws: unknown[] = [new Error("no luck"), "text", null, { message: "x".repeat(3_000) }, { get message() { throw new Error("mine"); } }];
  const { inPage } = page([ADD], () => { throw throws.shift(); });
  const all = [];
  while (throws.length > 0) all.push(await call(inPage, "add"));
  assert.deepEqual(all.map(({ is, text }) => `${is} ${text.length > 100 ? text.length : text}`), ["threw no luck", "threw text", "threw null", "threw 2000", "threw "]);
  assert.equal((await call(page([ADD], () => "x".repeat(300_001)).inPage, "add")).is, "long");
});

test("a cancel aborts the signal of its call alone", async () => {
  const { inPage } = page([ADD], (_, __, { signal }) => new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("stopped")))));
  const [one, other] = [call(inPage, "add", { key: "one" }), call(inPage, "add", { key: "other" })];
  await new Promise(setImmediate);
  await inPage.act({ do: "cancel", key: "none" });
  await inPage.act({ do: "cancel", key: "one" });
  assert.deepEqual(await one, { is: "threw", text: "stopped" });
  await inPage.act({ do: "cancel", key: "other" });
  assert.equal((await other).text, "stopped");
});

test("that tools are others is said by the event that was asked for", async () => {
  const { world, context, inPage } = page([]);
  const heard: string[] = [];
  world.document.addEventListener("n1", () => heard.push("n1"));
  await inPage.act({ do: "hear", event: "n1" });
  context.dispatchEvent(new Event("toolchange"));
  assert.deepEqual(heard, ["n1"]);
  world.document.modelContext = undefined;
  assert.equal(await inPage.act({ do: "hear", event: "n2" }), null);
});
