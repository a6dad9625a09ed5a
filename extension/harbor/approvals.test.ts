// Questions about calls, with a bridge and a person that the test plays.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Approvals } from "./approvals.ts";
import type { Decision } from "./grants.ts";

const settle = () => new Promise((resolve) => setImmediate(resolve));
const APPROVAL = { id: "q", who: "page", own: true, principal: "https://a.example", tool: "s/wipe", answers: ["once", "ten_minutes", "no"] };

function played(answer: Decision | "refused" | undefined) {
  const seen: [string, any][] = [];
  const shown: any[] = [];
  const taken: string[] = [];
  let push: (type: string, fields: any) => void = () => undefined;
  let state: () => void = () => undefined;
  const bridge = {
    state: { is: "ready" },
    request: async (type: string, fields: unknown) => void seen.push([type, fields]),
    onPush: (listener: typeof push) => void (push = listener),
    onState: (listener: typeof state) => void (state = listener),
  };
  const confirm = (view: any, signal: AbortSignal) => {
    shown.push(view);
    signal.addEventListener("abort", () => taken.push(view.call.id));
    return answer === undefined ? new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))) : Promise.resolve(answer);
  };
  const counts: number[] = [];
  const approvals = new Approvals(bridge as never, { confirm }, { acted: () => undefined, waiting: (many) => void counts.push(many) });
  const heard = async (more: object, waits = true) => {
    push("approval", { approval: { ...APPROVAL, ...more }, waits });
    await settle();
  };
  return { seen, shown, taken, heard, connect: () => state(), bridge, counts, approvals };
}

test("each new connection asks to be told of questions", async () => {
  const { seen, connect } = played(undefined);
  connect();
  assert.deepEqual(seen, [["approvals_watch", {}]]);
});

test("what the person answers goes to the bridge, and only what was offered", async () => {
  for (const [decision, said] of [
    [{ allow: "once", tools: [], answer: "ten_minutes" }, "ten_minutes"],
    [{ allow: "once", tools: [], answer: "always" }, "no"],
    [{ allow: "once", tools: [] }, "no"],
    [{ allow: "no", remember: false, answer: "no" }, "no"],
    [{ allow: "no", remember: false, dismissed: true }, "no"],
    ["refused", "no"],
  ] as const) {
    const { seen, shown, heard } = played(decision as Decision);
    await heard({});
    assert.equal(shown[0].call.tool, "s/wipe");
    assert.deepEqual(seen, [["approvals_answer", { approval_id: "q", answer: said }]]);
  }
});

test("a chat's question and those of another browser's pages get no window here, and an AI client's does", async () => {
  const { shown, heard } = played(undefined);
  await heard({ id: "a", who: "chat" });
  await heard({ id: "b", own: undefined });
  await heard({ id: "c", who: "run", own: undefined });
  assert.equal(shown.length, 0);
  await heard({ id: "d", who: "client", own: undefined });
  await heard({ id: "d", who: "client", own: undefined });
  assert.equal(shown.length, 1);
});

test("a client's question that is not shown any more is left to the panel", async () => {
  const { seen, heard } = played("refused");
  await heard({ who: "client", own: undefined });
  assert.deepEqual(seen, []);
});

test("it is told how many wait, whoever asks, and nothing is left where the connection is lost", async () => {
  const { heard, counts, connect, bridge } = played(undefined);
  await heard({ id: "a", who: "chat" });
  await heard({ id: "b" });
  await heard({ id: "b" });
  await heard({ id: "a" }, false);
  bridge.state.is = "waiting";
  connect();
  assert.deepEqual(counts, [1, 2, 2, 1, 0]);
});

test("what the person answers in the panel loses its window", async () => {
  const { taken, heard, approvals, seen } = played(undefined);
  await heard({ id: "a" });
  for (const id of ["b", "a"]) approvals.answered(id);
  await settle();
  assert.deepEqual([taken, seen], [["a"], []]);
});

test("a question that is over, or whose connection is lost, loses its window and is not answered", async () => {
  const { seen, taken, heard, connect, bridge } = played(undefined);
  await heard({ id: "a" });
  await heard({ id: "b" });
  await heard({ id: "a" }, false);
  assert.deepEqual(taken, ["a"]);
  bridge.state.is = "waiting";
  connect();
  await settle();
  assert.deepEqual([taken, seen], [["a", "b"], []]);
});
