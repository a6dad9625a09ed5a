// Runs of pages and their questions, with a bridge and a person that the test plays.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CodedError } from "../shared/protocol/codes.ts";
import type { Decision } from "./grants.ts";
import { parseOff } from "./off.ts";
import { about, runs } from "./runs.ts";

const RUN = { type: "run", origin: "https://a.example", tab: 3, task: "look" } as const;
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** A run that is under way. `answers`: the person's answers, one after the other. */
function begun(answers: (Decision | "refused")[], more: object = {}) {
  const [seen, shown, chunks, taken]: [[string, any][], any[], any[], string[]] = [[], [], [], []];
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
  const confirm = (view: any, signal: AbortSignal) => {
    shown.push(view);
    const answer = answers.shift();
    signal.addEventListener("abort", () => taken.push(view.call.tool));
    return answer === undefined ? new Promise<Decision | "refused">((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))) : Promise.resolve(answer);
  };
  const parts = { bridge: bridge as never, asking: { confirm }, after: () => () => undefined, acted: () => undefined };
  const context = { signal: new AbortController().signal, progress: () => undefined, chunk: (one: unknown) => void chunks.push(one), onMore: () => undefined };
  const ended = runs(parts, { ...RUN, ...more }, context).catch((error) => error.code);
  const question = (approval_id: string, waits = true) => options.onQuestion({ request_id: "1", run_id: "r", approval_id, tool: "s/write", arguments: { a: 1 }, why: "it writes", waits });
  return { seen, shown, chunks, taken, ended, question, event: (one: unknown) => options.onEvent(one), end: (answer: unknown) => end(answer) };
}

test("a run is asked for with what the page said, and its end is its last event", async () => {
  const { seen, chunks, ended, event, end } = begun([], { tools: ["s/t"], maxToolCalls: 2, requireCitations: true, sessionId: "S", useAllTools: false });
  const wish = { origin: RUN.origin, tab_id: 3, task: "look", asks: true, tools: ["s/t"], use_all_tools: false, max_tool_calls: 2, require_citations: true, session_id: "S" };
  assert.deepEqual(seen, [["run_start", { ...wish, stream: true, credit: true }]]);
  event({ type: "tool_result", runId: "r", error: { code: "invalid_params", message: "no", retryable: false } });
  end({ run_id: "r", output: "done" });
  assert.deepEqual(await ended, { runId: "r" });
  assert.equal(chunks[0].error.code, "ERR_INVALID_REQUEST");
});

test("an end that is too large for an event comes with the answer", async () => {
  const usage = { input_tokens: 1, output_tokens: 2 };
  const { chunks, ended, event, end } = begun([]);
  event({ type: "tool_result", runId: "r", error: { code: "message_too_large", message: "the result is too large", retryable: false } });
  end({ run_id: "r", output: "long", usage });
  assert.deepEqual(await ended, { runId: "r" });
  assert.deepEqual(chunks[1], { type: "final", runId: "r", output: "long", usage });
  const told = begun([]);
  told.event({ type: "final", runId: "r", output: "done", usage });
  told.end({ run_id: "r", output: "done", usage });
  await told.ended;
  assert.equal(told.chunks.length, 1, "one end");
});

test("the person is shown the exact call, and what they say goes to the bridge and into the log", async () => {
  for (const [decision, said, outcome] of [
    [{ allow: "once", tools: [] }, "once", "allowed"],
    [{ allow: "no", remember: false }, "no", "denied"],
    [{ allow: "no", remember: false, dismissed: true }, "no", "dismissed"],
  ] as const) {
    const { seen, shown, question, ended, end } = begun([decision as Decision]);
    question("q");
    await settle();
    assert.deepEqual(shown, [{ origin: RUN.origin, scopes: [], servers: [], named: false, call: { tool: "s/write", args: '{"a":1}', why: "it writes" } }]);
    assert.deepEqual(seen.slice(1), [
      ["run_decide", { run_id: "r", approval_id: "q", decision: said }],
      ["host_note_consent", { origin: RUN.origin, outcome, tools: ["s/write"] }],
    ]);
    end({ run_id: "r" });
    await ended;
  }
});

test("a call that the person is not asked about any more is not made, and no answer of theirs is in the log", async () => {
  const { seen, question, ended, end } = begun(["refused"]);
  question("q");
  await settle();
  assert.deepEqual(seen.slice(1), [["run_decide", { run_id: "r", approval_id: "q", decision: "no" }]]);
  end({ run_id: "r" });
  await ended;
});

test("a question goes when the bridge waits no longer, and when the run ends", async () => {
  const { taken, question, seen, ended, end } = begun([]);
  question("one");
  question("two");
  question("one", false);
  await settle();
  assert.equal(taken.length, 1);
  end(new CodedError("cancelled", "ended"));
  await ended;
  await settle();
  assert.deepEqual([taken.length, seen.length], [2, 1], "nobody has answered anything");
});

test("a session that is not there has a code of its own", async () => {
  const { ended, end } = begun([], { sessionId: "S" });
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
