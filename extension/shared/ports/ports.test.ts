// Both ends of a port against each other: one answer to each request, and an end to all of them with the port.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Port } from "../browser/api.ts";
import { CodedError } from "../protocol/codes.ts";
import { type Beat, type Handler, Room, answer } from "./answerer.ts";
import { type After, Caller } from "./caller.ts";
import { parseAsked, parseHeard } from "./wire.ts";

/** Two ends that belong together. What is posted at one arrives at the other, as JSON does. */
function pair(): [Port, Port] {
  const listeners: ((message: unknown) => void)[][] = [[], []];
  const ends: (() => void)[][] = [[], []];
  const end = (mine: number): Port => ({
    name: "test",
    sender: {},
    post(message) {
      const copy: unknown = JSON.parse(JSON.stringify(message));
      queueMicrotask(() => listeners[1 - mine]?.forEach((listener) => listener(copy)));
    },
    onMessage: (listener) => void listeners[mine]?.push(listener),
    onDisconnect: (listener) => void ends[mine]?.push(() => listener("")),
    disconnect: () => ends[1 - mine]?.forEach((listener) => listener()),
  });
  return [end(0), end(1)];
}

const lost = () => new CodedError("ERR_BRIDGE_NOT_CONNECTED", "lost");
const never: After = () => () => undefined;
const silent: Beat = { start: () => () => undefined };
const settle = () => new Promise((resolve) => setImmediate(resolve));

function connected(handler: Handler, open = 2, beat = silent) {
  const [here, there] = pair();
  const push = answer(there, handler, { open }, beat);
  const pushes: unknown[] = [];
  const caller = new Caller(() => here, lost, (type, payload) => pushes.push([type, payload]), never);
  return { caller, push, pushes, there };
}

test("results, progress, pushes and errors arrive; what is not meant for others does not", async () => {
  const { caller, push, pushes } = connected(async (type, payload, { progress }) => {
    if (type === "fail") throw new CodedError("ERR_TOOL_FAILED", "why", { more: 1 });
    if (type === "bug") throw new TypeError("a secret");
    progress(1);
    return payload;
  });
  const seen: unknown[] = [];
  assert.deepEqual(await caller.call("echo", { a: 1 }, { onProgress: (one) => seen.push(one) }), { a: 1 });
  assert.deepEqual(seen, [1]);
  await assert.rejects(caller.call("fail", {}), { code: "ERR_TOOL_FAILED", message: "why", details: { more: 1 } });
  const noise = console.error;
  console.error = () => undefined;
  await assert.rejects(caller.call("bug", {}), (error: CodedError) => !error.message.includes("secret"));
  console.error = noise;
  push("news", { b: 2 });
  await settle();
  assert.deepEqual(pushes, [["news", { b: 2 }]]);
});

test("an abort reaches the handler, and rejects with the signal's reason", async () => {
  let aborted = false;
  const { caller } = connected(async (_type, _payload, { signal }) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    aborted = true;
  });
  const controller = new AbortController();
  const asked = caller.call("wait", {}, { signal: controller.signal });
  await settle();
  controller.abort(new Error("enough"));
  await assert.rejects(asked, /enough/);
  await settle();
  assert.ok(aborted);
});

test("when the port closes, requests fail on one side and are aborted on the other", async () => {
  let signal: AbortSignal | undefined;
  const beats: string[] = [];
  const beat: Beat = { start: () => (beats.push("start"), () => void beats.push("stop")) };
  const endless: Handler = (_type, _payload, context) => ((signal = context.signal), new Promise(() => undefined));
  const { caller, there } = connected(endless, 2, beat);
  const asked = caller.call("wait", {});
  await settle();
  assert.deepEqual(beats, ["start"]);
  there.disconnect();
  await assert.rejects(asked, { code: "ERR_BRIDGE_NOT_CONNECTED" });
  caller.call("wait", {}).catch(() => undefined);
  await settle();
  caller.close();
  assert.deepEqual([signal?.aborted, beats.at(-1)], [true, "stop"]);
});

test("more requests than are allowed are refused", async () => {
  const { caller } = connected(() => new Promise(() => undefined), 2);
  void caller.call("wait", {}).catch(() => undefined);
  void caller.call("wait", {}).catch(() => undefined);
  await assert.rejects(caller.call("wait", {}), { code: "ERR_RATE_LIMITED" });
});

test("an other end that is silent for too long counts as gone; one that says that it lives does not", async () => {
  const timers = new Set<() => void>();
  const after = (_ms: number, call: () => void) => (timers.add(call), () => void timers.delete(call));
  const [here, there] = pair();
  let beat = () => undefined as void;
  answer(there, (type) => (type === "now" ? Promise.resolve(1) : new Promise(() => undefined)), { open: 2 }, {
    start: (one) => ((beat = one), () => undefined),
  });
  const caller = new Caller(() => here, lost, undefined, after);
  await caller.call("now", {});
  assert.equal(timers.size, 0);
  const asked = caller.call("wait", {});
  const [first] = timers;
  await settle();
  beat();
  await settle();
  assert.equal(timers.size, 1);
  assert.ok(first !== undefined && !timers.has(first));
  for (const due of timers) due();
  await assert.rejects(asked, { code: "ERR_BRIDGE_NOT_CONNECTED" });
  assert.equal(timers.size, 0);
});

test("who has not been greeted waits for a shorter time", async () => {
  const waited: number[] = [];
  const after = (ms: number) => (waited.push(ms), () => undefined);
  const [here, there] = pair();
  const caller = new Caller(() => here, lost, undefined, after, 7);
  caller.call("wait", {}).catch(() => undefined);
  answer(there, () => new Promise(() => undefined), { open: 2 }, silent);
  await settle();
  assert.deepEqual(waited, [7, 60_000]);
  caller.close();
});

test("a bound may be common to several ports, and what ends gives its room back", async () => {
  const shared = new Room(2);
  const [here, there] = pair();
  const [other, otherEnd] = pair();
  const some: Handler = (type) => (type === "wait" ? new Promise(() => undefined) : Promise.resolve(1));
  answer(there, some, { open: 9, shared }, silent);
  answer(otherEnd, some, { open: 9, shared }, silent);
  const [one, two] = [new Caller(() => here, lost, undefined, never), new Caller(() => other, lost, undefined, never)];
  one.call("wait", {}).catch(() => undefined);
  assert.deepEqual([await two.call("now", {}), await two.call("now", {})], [1, 1]);
  two.call("wait", {}).catch(() => undefined);
  await assert.rejects(two.call("now", {}), { code: "ERR_RATE_LIMITED" });
  one.close();
  assert.equal(await two.call("now", {}), 1);
  two.close();
  assert.deepEqual([shared.take(), shared.take(), shared.take()], [true, true, false]);
});

test("nonsense is nothing", () => {
  for (const message of [null, 1, "x", [], {}, { id: -1, type: "a" }, { id: 1.5, type: "a" }, { id: 1, type: "a".repeat(65) }]) {
    assert.deepEqual(parseAsked(message), { kind: "nothing" });
  }
  for (const message of [null, 1, "x", [], {}, { id: "1", result: 1 }]) assert.deepEqual(parseHeard(message), { kind: "nothing" });
});

test("pieces of a stream arrive in order, and credit goes the other way", async () => {
  const given: number[] = [];
  const { caller } = connected(async (_type, _payload, { chunk, onMore }) => {
    for (let at = 0; at < 3; at += 1) chunk({ at });
    await settle();
    // What was given before anybody listened is not lost.
    await new Promise<void>((resolve) => onMore((n) => (given.push(n), given.length === 2 && resolve())));
    return "end";
  });
  const seen: unknown[] = [];
  let more: (n: number) => void = () => undefined;
  const asked = caller.call("stream", {}, { onChunk: (one) => seen.push(one), begun: (give) => (more = give) });
  more(3);
  more(4);
  await settle();
  await settle();
  more(5);
  assert.equal(await asked, "end");
  assert.deepEqual([seen, given], [[{ at: 0 }, { at: 1 }, { at: 2 }], [7, 5]]);
  // Nothing is sent of what has ended.
  more(6);
});

test("a stream in which a piece is missing fails, and is cancelled", async () => {
  const [here, there] = pair();
  const sent: any[] = [];
  there.onMessage((message: any) => {
    sent.push(message);
    if (message.id === 1) for (const seq of [0, 2, 3]) there.post({ id: 1, seq, chunk: seq });
  });
  const caller = new Caller(() => here, lost, undefined, never);
  const seen: unknown[] = [];
  await assert.rejects(caller.call("stream", {}, { onChunk: (one) => seen.push(one) }), { code: "ERR_PROTOCOL_ERROR" });
  await settle();
  assert.deepEqual([seen, sent.at(-1)], [[0], { cancel: 1 }]);
});
