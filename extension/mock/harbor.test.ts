// What the mock answers is what its script says, by the rules that Harbor has.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { MockScript } from "../types/mock.d.ts";
import { MockHarbor } from "./harbor.ts";

const ASKER = { origin: "https://a.example", tab: 0 };
const TOOLS: MockScript["tools"] = {
  "time/now": { description: "The time", call: () => "noon" },
  "time/zone": { call: ({ city }) => ({ zone: city }) },
  "list/add": {
    async call(_, { progress }) {
      progress({ progress: 1 });
      throw new Error("full");
    },
  },
  "list/gone": {
    call() {
      throw Object.assign(new Error("it does not run"), { code: "ERR_SERVER_UNAVAILABLE" });
    },
  },
};

let clicks = 0;

function played(script: MockScript = {}) {
  const harbor = new MockHarbor();
  harbor.script = script;
  const chunks: any[] = [];
  const ask = (type: string, fields: object = {}, options = {}) => harbor.call(type, { ...ASKER, ...fields }, { onChunk: (chunk) => chunks.push(chunk), ...options }) as Promise<any>;
  const allow = (scopes: string[], more: object = {}) => ask("request_permissions", { document: "D", gesture: (clicks += 1), scopes, ...more });
  const prompt = (text: string, more: object = {}, options = {}) => ask("prompt", { body: JSON.stringify({ messages: [{ role: "system", content: "s" }, { role: "user", content: text }], ...more }), stream: true }, options);
  return { harbor, chunks, ask, allow, prompt };
}

test("nothing works before the person has allowed it, and who asks needs a click", async () => {
  const { harbor, ask, allow } = played({ tools: TOOLS });
  for (const [type, fields] of [["list"], ["call", { tool: "time/now", args: "{}" }], ["prompt", { body: '{"messages":[]}' }], ["providers"], ["run", { task: "x" }], ["session_create", {}]] as [string, object?][]) {
    await assert.rejects(ask(type, fields), { code: "ERR_SCOPE_REQUIRED" }, type);
  }
  await assert.rejects(allow(["mcp:tools.call"], { gesture: 0 }), { code: "ERR_USER_GESTURE_REQUIRED" });
  assert.equal((await ask("model_state", { document: "D" })).state, "downloadable");
  const { granted, allowedTools } = await allow(["mcp:tools.call", "mcp:tools.list"], { tools: ["time/now", "none/here"] });
  assert.deepEqual([granted, allowedTools], [false, ["time/now"]], "what is not here is not granted");
  assert.deepEqual(await ask("list"), [{ name: "time/now", serverId: "time", description: "The time", inputSchema: { type: "object" } }]);
  await assert.rejects(ask("call", { tool: "time/zone", args: "{}" }), { code: "ERR_TOOL_NOT_ALLOWED" });
  await assert.rejects(allow(["mcp:tools.call"], { tools: ["none/here"] }), { code: "ERR_TOOL_NOT_FOUND" });
  assert.deepEqual(harbor.asked.at(-2), { type: "call", tool: "time/zone", args: "{}" });
});

test("tabs are the script's: with a grant, and with the errors that it throws", async () => {
  const none = played();
  await assert.rejects(none.ask("browser", { act: "readability" }), { code: "ERR_SCOPE_REQUIRED" });
  await none.allow(["browser:activeTab.read"]);
  await assert.rejects(none.ask("browser", { act: "readability" }), { code: "ERR_NOT_IMPLEMENTED" });
  const asked: unknown[] = [];
  const tabs: MockScript["tabs"] = (wish) => {
    asked.push(wish);
    if (wish.selector === "#word") throw Object.assign(new Error("a secret field"), { code: "ERR_PERMISSION_DENIED" });
    return { text: "x" };
  };
  const { ask, allow } = played({ tabs });
  await allow(["browser:activeTab.read", "browser:activeTab.interact"]);
  assert.deepEqual(await ask("browser", { act: "readability" }), { text: "x" });
  await assert.rejects(ask("browser", { act: "fill", selector: "#word", value: "y" }), { code: "ERR_PERMISSION_DENIED" });
  await assert.rejects(ask("browser", { act: "readability", tabId: 4 }), { code: "ERR_SCOPE_REQUIRED" });
  assert.deepEqual(asked, [{ act: "readability" }, { act: "fill", selector: "#word", value: "y" }]);
});

test("the person says what the script says: a no, one that is remembered, once, by what is asked", async () => {
  const no = played({ person: "no" });
  assert.equal((await no.allow(["model:prompt"])).granted, false);
  assert.deepEqual(await no.ask("model_state", { document: "D" }), { state: "unavailable", denied: true });
  await assert.rejects(no.allow(["model:prompt"]), { code: "ERR_PERMISSION_DENIED" }, "not so soon again");
  const never = played({ person: "never" });
  assert.equal((await never.allow(["model:prompt"])).scopes["model:prompt"], "denied");
  const wishes: unknown[] = [];
  const by = played({ tools: TOOLS, person: (wish) => (wishes.push(wish), wish.scopes.includes("model:list") ? "no" : "once") });
  assert.equal((await by.allow(["model:prompt"], { reason: "to help" })).scopes["model:prompt"], "granted-once");
  assert.equal((await by.allow(["mcp:tools.call"])).granted, true);
  assert.equal((await by.allow(["model:list"])).granted, false);
  assert.deepEqual(wishes, [{ scopes: ["model:prompt"], reason: "to help" }, { scopes: ["mcp:tools.call"] }, { scopes: ["model:list"] }]);
  assert.deepEqual(await by.ask("model_state", { document: "D" }), { state: "available", window: 4096 });
  by.harbor.reset();
  assert.deepEqual(by.harbor.asked, []);
  assert.equal((await by.ask("model_state", { document: "D" })).state, "downloadable");
});

test("tools give texts, objects and results, and fail with or without a code", async () => {
  const { ask, allow } = played({ tools: TOOLS });
  await allow(["mcp:tools.call"]);
  const heard: unknown[] = [];
  const call = (tool: string, args = "{}") => ask("call", { tool, args, progress: true }, { onProgress: (one: unknown) => heard.push(one) });
  assert.deepEqual(await call("time/now"), { content: [{ type: "text", text: "noon" }] });
  assert.deepEqual(await call("time/zone", '{"city":"Kiel"}'), { content: [{ type: "text", text: '{"zone":"Kiel"}' }], structuredContent: { zone: "Kiel" } });
  assert.deepEqual([await call("list/add"), heard], [{ content: [{ type: "text", text: "full" }], isError: true }, [{ progress: 1 }]]);
  await assert.rejects(call("list/gone"), { code: "ERR_SERVER_UNAVAILABLE", message: "it does not run" });
  await assert.rejects(call("time/none"), { code: "ERR_TOOL_NOT_FOUND" });
  await assert.rejects(call("time/constructor"), { code: "ERR_TOOL_NOT_FOUND" });
});

test("a model says what it is told, or what the script says: whole, in pieces, by calls, or an error", async () => {
  const { harbor, chunks, allow, prompt } = played();
  await allow(["model:prompt"]);
  assert.equal((await prompt("say it back")).message.content, "say it back");
  assert.deepEqual(chunks.splice(0).map(({ text }) => text), ["say ", "it ", "back"]);
  const schema = { type: "object", required: ["a", "b", "c", "d"], properties: { a: { type: "string" }, b: { type: "integer", minimum: 3 }, c: { type: "boolean" }, d: { enum: ["x"] } } };
  assert.deepEqual(JSON.parse((await prompt("fill in", { response_schema: schema })).message.content), { a: "text", b: 3, c: true, d: "x" });
  harbor.script = { ...harbor.script, model: ({ prompt: told, tools }) => ({ text: told, calls: [{ name: tools[0]?.name ?? "", arguments: { a: 1 } }] }) };
  const { message, finishReason } = await prompt("use it", { tools: [{ name: "add", description: "d", inputSchema: {} }] });
  assert.deepEqual([message.toolCalls[0].name, message.toolCalls[0].arguments, finishReason], ["add", { a: 1 }, "tool_calls"]);
  chunks.length = 0;
  harbor.script = {
    async *model() {
      yield "one";
      yield "two";
    },
  };
  assert.deepEqual([(await prompt("x")).message.content, chunks.map(({ text }) => text)], ["onetwo", ["one", "two"]]);
  harbor.script = { model: () => Promise.reject(new Error("out of words")) };
  await assert.rejects(prompt("x"), { code: "ERR_MODEL_FAILED", message: "out of words" });
  await assert.rejects(prompt("x", { model: "mock" }), { code: "ERR_SCOPE_REQUIRED" });
  harbor.script = { model: null };
  assert.deepEqual(await harbor.call("model_state", { ...ASKER, document: "D" }), { state: "unavailable" });
  await assert.rejects(prompt("x"), { code: "ERR_MODEL_FAILED" });
});

test("who leaves is not held up by a script that never answers, and hears the very reason", async () => {
  const { harbor, allow, prompt } = played({ model: () => new Promise(() => undefined) });
  await allow(["model:prompt"]);
  const controller = new AbortController();
  const asked = prompt("x", {}, { signal: controller.signal });
  controller.abort(new RangeError("mine"));
  await assert.rejects(asked, RangeError);
  assert.equal(harbor.asked.at(-1)?.type, "prompt");
});

test("a run asks, calls and ends as Harbor's do, within its limit, and a session remembers", async () => {
  const rounds: number[] = [];
  const { harbor, chunks, ask, allow } = played({ tools: TOOLS, model: ({ tools, messages }) => (rounds.push(tools.length), tools.length > 0 && !messages.some(({ role }) => role === "tool") ? { calls: [{ name: "time/now" }, { name: "other/tool" }] } : `it is ${messages.filter(({ role }) => role === "user").length}`) });
  await allow(["model:prompt", "model:tools", "mcp:tools.call"], { tools: ["time/now"] });
  const { sessionId } = await ask("session_create", { name: "s", tools: ["time/now"], llm: true });
  const { runId } = await ask("run", { task: "what time is it?", requireCitations: true, sessionId });
  assert.deepEqual(chunks.map(({ type }) => type), ["status", "tool_call", "tool_result", "tool_call", "tool_result", "token", "token", "token", "final"]);
  assert.ok(chunks.every((chunk) => chunk.runId === runId));
  assert.deepEqual(chunks[2].result, { content: [{ type: "text", text: "noon" }] });
  assert.equal(chunks[4].error.code, "ERR_TOOL_NOT_ALLOWED");
  assert.deepEqual([chunks.at(-1).output, chunks.at(-1).citations[0].source], ["it is 1", "time/now"]);
  chunks.length = 0;
  await ask("run", { task: "and now?", sessionId, maxToolCalls: 0 });
  assert.deepEqual([chunks.at(-1).output, rounds.at(-1)], ["it is 2", 0]);
  assert.deepEqual((await ask("session_get", { sessionId })).usage, { promptCount: 2, toolCallCount: 2, tokensUsed: 0 });
  assert.equal((await ask("session_list")).length, 1);
  assert.equal((await ask("session_end", { sessionId })).status, "terminated");
  await assert.rejects(ask("session_get", { sessionId }), { code: "ERR_SESSION_NOT_FOUND" });
  harbor.script = { ...harbor.script, model: () => Promise.reject(new Error("no words")) };
  await ask("run", { task: "x" });
  assert.deepEqual([chunks.at(-1).type, chunks.at(-1).error.code], ["error", "ERR_MODEL_FAILED"]);
});

test("without Harbor nobody answers; what no script can be written for is said to be so", async () => {
  await assert.rejects(played().ask("read_tab"), { code: "ERR_NOT_IMPLEMENTED" });
  const { ask } = played({ harbor: false });
  for (const type of ["permissions", "list", "about"]) await assert.rejects(ask(type), { code: "ERR_HARBOR_NOT_FOUND" });
});
