// A run with the page's own tools, played without a page: the order of its events, its ends, and what a page may say.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { CallOptions } from "../shared/ports/caller.ts";
import { CodedError } from "../shared/protocol/codes.ts";
import { parseAnswer, parseOwn } from "../shared/protocol/runs.ts";
import { parseFlags } from "./flags.ts";
import { handlerFor } from "./pages.ts";

const PAGE = { origin: "https://a.example:8443", tab: 3, frame: 0, document: "D" };
const OWN = [{ name: "add", description: "Adds", inputSchema: { type: "object" } }];

type Answer = { message: object; finishReason: string } | Error;
const says = (content: string): Answer => ({ message: { role: "assistant", content }, finishReason: "stop" });
const calls = (...names: string[]): Answer => ({ message: { role: "assistant", content: "", toolCalls: names.map((name, at) => ({ id: `c${at}`, name, arguments: { at } })) }, finishReason: "tool_calls" });

/** Plays a run. `page` answers what it is asked to run. */
function played(answers: Answer[], page: (ask: any) => object | undefined = () => ({ result: { content: [{ type: "text", text: "42" }] } }), flags: unknown = {}) {
  const [bodies, chunks]: [any[], any[]] = [[], []];
  const harbor = {
    async call(type: string, payload: any, options: CallOptions = {}) {
      if (type === "about") return { model: true, off: flags === "off" ? ["agentRuns"] : [] };
      bodies.push(JSON.parse(payload.body));
      const answer = answers.shift() ?? says("end");
      if (answer instanceof Error) throw answer;
      if (answer.finishReason === "stop") for (const text of ["it ", "is"]) options.onChunk?.({ type: "text", text });
      options.onChunk?.({ type: "usage" });
      return answer;
    },
  };
  const handle = handlerFor(PAGE, harbor, async () => parseFlags(flags), async () => undefined, async () => undefined);
  const controller = new AbortController();
  const rest = { progress: () => undefined, onMore: () => undefined };
  const context = {
    ...rest,
    signal: controller.signal,
    chunk(chunk: any) {
      if (chunk.type !== "ask") return void chunks.push(chunk);
      const said = page(chunk);
      if (said !== undefined) void handle("run_answer", { ask: chunk.ask, answer: JSON.stringify(said) }, { ...rest, signal: controller.signal, chunk: () => undefined });
    },
  };
  const run = (more: object = {}) => handle("run", { task: "add", own: JSON.stringify(OWN), ...more }, context) as Promise<{ runId: string }>;
  return { run, bodies, chunks, controller, handle, context };
}

test("calls and their results come in order, the model is told of them, and the last words are the output", async () => {
  const { run, bodies, chunks } = played([calls("add", "add"), says("x")]);
  const { runId } = await run();
  assert.deepEqual(chunks.map(({ type }) => type), ["tool_call", "tool_call", "tool_result", "tool_result", "token", "token", "final"]);
  assert.ok(chunks.every((chunk) => chunk.runId === runId));
  assert.deepEqual([chunks[0].tool, chunks[0].args, chunks[2].result.content[0].text, chunks.at(-1).output], ["page:a.example:8443/add", { at: 0 }, "42", "it is"]);
  assert.deepEqual(bodies[0].tools, OWN);
  assert.deepEqual(bodies[1].messages.slice(2), [0, 1].map((at) => ({ role: "tool", toolCallId: `c${at}`, content: "42" })));
});

test("at its limit a run offers no tool; calls beyond it, and of tools that it has not, come to an error", async () => {
  const { run, bodies, chunks } = played([calls("other", "add", "add"), calls("add"), says("x")]);
  await run({ maxToolCalls: 2 });
  const results = chunks.filter(({ type }) => type === "tool_result").map(({ error }) => error?.code);
  assert.deepEqual(results.sort(), ["ERR_BUDGET_EXCEEDED", "ERR_BUDGET_EXCEEDED", "ERR_TOOL_NOT_FOUND", undefined]);
  assert.deepEqual(bodies.map(({ tools }) => tools?.length), [1, undefined, undefined]);
  const none = played([says("x")]);
  await none.run({ maxToolCalls: 0 });
  assert.deepEqual([none.bodies[0].tools, none.chunks.at(-1).type], [undefined, "final"]);
});

test("what has begun ends with an event, what has not with an error, and a model that only calls comes to an end", async () => {
  const refused = new CodedError("ERR_SCOPE_REQUIRED", "ask first");
  await assert.rejects(played([refused]).run(), refused);
  for (const [error, code, retryable] of [[new CodedError("ERR_RATE_LIMITED", "later"), "ERR_RATE_LIMITED", true], [new CodedError("ERR_MODEL_FAILED", "no"), "ERR_MODEL_FAILED", false]] as const) {
    const { run, chunks } = played([calls("add"), error]);
    await run();
    assert.deepEqual([chunks.at(-1).type, chunks.at(-1).error.code, chunks.at(-1).error.retryable], ["error", code, retryable]);
  }
  const circle = played(Array.from({ length: 30 }, () => calls("add")));
  await circle.run({ maxToolCalls: 100 });
  assert.deepEqual([circle.bodies.length, circle.chunks.at(-1).error.code], [21, "ERR_MODEL_FAILED"]);
  const refusing = played([calls("add"), { message: { role: "assistant", content: "" }, finishReason: "error" }]);
  await refusing.run();
  assert.equal(refusing.chunks.at(-1).error.code, "ERR_MODEL_FAILED");
});

test("a run that is left while the page works ends then, and a late word of the page's is nobody's", async () => {
  const asks: any[] = [];
  const { run, chunks, controller, handle, context } = played([calls("add")], (ask) => void asks.push(ask));
  const left = run();
  while (asks.length === 0) await new Promise(setImmediate);
  controller.abort(new RangeError("mine"));
  await assert.rejects(left, RangeError);
  const before = chunks.length;
  assert.equal(await handle("run_answer", { ask: asks[0].ask, answer: '{"result":{}}' }, context), undefined);
  assert.equal(await handle("run_answer", { ask: 99, answer: '{"result":{}}' }, context), undefined);
  assert.equal(chunks.length, before);
});

test("a page's error is told with its code, a result without a text as JSON", async () => {
  const said: object[] = [{ error: { code: "ERR_X", message: "why" } }, { result: { content: [{ type: "image", data: "AA" }, { type: "text", text: "b" }], isError: true } }, { result: {} }];
  const { run, bodies, chunks } = played([calls("add", "add", "add"), says("x")], () => said.shift());
  await run();
  assert.deepEqual(chunks.filter(({ type }) => type === "tool_result").map(({ error }) => error?.code), ["ERR_X", undefined, undefined]);
  assert.deepEqual(bodies[1].messages.slice(2).map(({ content, isError }: any) => [content, isError]), [["why", true], ['{"type":"image","data":"AA"}\nb', true], ["", undefined]]);
});

test("what is switched off here or in the configuration begins nothing, and neither does what is mixed or forged", async () => {
  for (const flags of [{ pageTools: false }, { agentRuns: false }, "off"]) {
    const { run, bodies } = played([], undefined, flags);
    await assert.rejects(run(), { code: "ERR_FEATURE_DISABLED" }, JSON.stringify(flags));
    assert.equal(bodies.length, 0);
  }
  for (const more of [{ tools: ["time/now"] }, { useAllTools: true }, { requireCitations: true }, { sessionId: "s" }, { task: 7 }, { own: "[]" }, { own: "7" }, { own: "{" }]) {
    await assert.rejects(played([]).run(more), { code: "ERR_INVALID_REQUEST" }, JSON.stringify(more));
  }
  for (const own of [[{ ...OWN[0], name: "a b" }], [{ ...OWN[0], name: "x".repeat(129) }], [{ name: "x" }], Array.from({ length: 65 }, () => OWN[0]), [null]]) assert.throws(() => parseOwn(JSON.stringify(own)), { code: "ERR_INVALID_REQUEST" });
  assert.deepEqual(parseOwn(JSON.stringify([{ ...OWN[0], execute: 1, annotations: { readOnly: true } }])), OWN);
  for (const wrong of [{ ask: "1", answer: '{"result":{}}' }, { ask: 1, answer: "{}" }, { ask: 1, answer: "null" }, { ask: 1, answer: 7 }, { ask: 1, answer: '{"result":[]}' }]) assert.throws(() => parseAnswer(wrong), { code: "ERR_INVALID_REQUEST" }, JSON.stringify(wrong));
  for (const own of ["x".repeat(300_001), {}, "[".repeat(2_000)]) assert.throws(() => parseOwn(own), { code: "ERR_INVALID_REQUEST" });
  assert.throws(() => parseAnswer({ ask: 1, answer: "[".repeat(2_000) }), { code: "ERR_INVALID_REQUEST" });
});
