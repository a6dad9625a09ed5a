// Runs of pages, with a bridge that the test plays.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CodedError } from "../shared/protocol/codes.ts";
import { parseOff } from "./off.ts";
import { about, runs } from "./runs.ts";

const RUN = { type: "run", origin: "https://a.example", tab: 3, task: "look" } as const;

/** A run that is under way. */
function begun(more: object = {}) {
  const [seen, chunks]: [[string, any][], any[]] = [[], []];
  let options: any;
  let end: (answer: unknown) => void = () => undefined;
  const bridge = {
    request: (type: string, fields: unknown, given: unknown) => {
      seen.push([type, fields]);
      if (type !== "run_start") return Promise.resolve({});
      options = given;
      return new Promise((resolve, reject) => (end = (answer) => (answer instanceof Error ? reject(answer) : resolve(answer))));
    },
  };
  const parts = { bridge: bridge as never, after: () => () => undefined, acted: () => undefined };
  const context = { signal: new AbortController().signal, progress: () => undefined, chunk: (one: unknown) => void chunks.push(one), onMore: () => undefined };
  const ended = runs(parts, { ...RUN, ...more }, context).catch((error) => error.code);
  return { seen, chunks, ended, event: (one: unknown) => options.onEvent(one), end: (answer: unknown) => end(answer) };
}

test("a run is asked for with what the page said, and its end is its last event", async () => {
  const { seen, chunks, ended, event, end } = begun({ tools: ["s/t"], maxToolCalls: 2, requireCitations: true, sessionId: "S", useAllTools: false });
  const wish = { origin: RUN.origin, tab_id: 3, task: "look", tools: ["s/t"], use_all_tools: false, max_tool_calls: 2, require_citations: true, session_id: "S" };
  assert.deepEqual(seen, [["run_start", { ...wish, stream: true, credit: true }]]);
  event({ type: "tool_result", runId: "r", error: { code: "invalid_params", message: "no", retryable: false } });
  end({ run_id: "r", output: "done" });
  assert.deepEqual(await ended, { runId: "r" });
  assert.equal(chunks[0].error.code, "ERR_INVALID_REQUEST");
});

test("an end that is too large for an event comes with the answer", async () => {
  const usage = { input_tokens: 1, output_tokens: 2 };
  const { chunks, ended, event, end } = begun();
  event({ type: "tool_result", runId: "r", error: { code: "message_too_large", message: "the result is too large", retryable: false } });
  end({ run_id: "r", output: "long", usage });
  assert.deepEqual(await ended, { runId: "r" });
  assert.deepEqual(chunks[1], { type: "final", runId: "r", output: "long", usage });
  const told = begun();
  told.event({ type: "final", runId: "r", output: "done", usage });
  told.end({ run_id: "r", output: "done", usage });
  await told.ended;
  assert.equal(told.chunks.length, 1, "one end");
});

test("a session that is not there has a code of its own", async () => {
  const { ended, end } = begun({ sessionId: "S" });
  end(new CodedError("not_found", "no such session"));
  assert.equal(await ended, "ERR_SESSION_NOT_FOUND");
});

test("what the configuration switches off is read where it stands", async () => {
  const config = "[mcp]\nfirstUse = \"all\"\n\n[pages]\ntextGeneration = true\nagentRuns = false\n\n[metrics]\norigins = false\n";
  assert.deepEqual([parseOff(config), parseOff(""), parseOff(undefined)], [["agentRuns"], [], []]);
  const replies: { [type: string]: unknown } = { llm_get_active: { active: "p", status: "ready" }, get_config: { config } };
  const bridge = { request: async (type: string) => replies[type] } as never;
  assert.deepEqual(await about(bridge), { model: true, off: ["agentRuns"] });
});
