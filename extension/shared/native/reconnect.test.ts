// Every state with every event, and walks of them at random: nothing is tried while nobody wants it, nor too often.

import assert from "node:assert/strict";
import { test } from "node:test";
import { PROTOCOL } from "../protocol/generated/messages.ts";
import {
  type Event,
  HELLO_MS,
  LONGEST_WAIT_MS,
  PATIENCE,
  REST_MS,
  START,
  type State,
  deadline,
  reasonOf,
  step,
  wait,
} from "./reconnect.ts";

const LOST = { is: "closed", text: "Native host has exited.", wanted: true } as const;
const MISSING = { is: "closed", text: "Specified native messaging host not found.", wanted: true } as const;

test("a wish connects, a greeting is the connection", () => {
  const first = step(START, { is: "want" }, 0);
  assert.deepEqual(first, { state: { is: "connecting", attempt: 1, until: HELLO_MS }, actions: [{ do: "connect" }] });
  assert.deepEqual(step(first.state, { is: "hello_accepted" }, 1), { state: { is: "ready" }, actions: [] });
  assert.deepEqual(step(first.state, { is: "want" }, 1).actions, []);
});

test("what is lost is tried again where somebody wants it, and else is not", () => {
  const lost = step({ is: "ready" }, LOST, 100).state;
  assert.deepEqual([lost.is, deadline(lost)], ["waiting", 100 + wait(0)]);
  assert.deepEqual(step({ is: "ready" }, { ...LOST, wanted: false }, 100).state, START);
  assert.deepEqual(step(lost, { is: "due", wanted: true }, 100 + wait(0)).actions, [{ do: "connect" }]);
  assert.deepEqual(step(lost, { is: "due", wanted: false }, 100 + wait(0)), { state: START, actions: [] });
});

test("waits double up to the longest, and requests lose their patience", () => {
  const waits = [0, 1, 2, 3, 4, 5, 6, 7, 100].map(wait);
  assert.deepEqual(waits, [250, 500, 1000, 2000, 4000, 8000, LONGEST_WAIT_MS, LONGEST_WAIT_MS, LONGEST_WAIT_MS]);
  const at = (attempt: number) => step({ is: "connecting", attempt, until: 9 }, LOST, 0).actions;
  assert.deepEqual(at(PATIENCE - 1), []);
  assert.equal(at(PATIENCE)[0]?.do, "fail_waiting");
});

test("a host that is missing fails at once, and is tried once in a while", () => {
  const { state, actions } = step({ is: "connecting", attempt: 1, until: 9 }, MISSING, 5);
  assert.deepEqual([state.is, actions.map((action) => action.do)], ["failed", ["fail_waiting"]]);
  assert.deepEqual(step(state, { is: "want" }, 6).actions.map((action) => action.do), ["fail_waiting"]);
  assert.deepEqual(step(state, { is: "want" }, 5 + REST_MS).actions, [{ do: "connect" }]);
});

test("another version closes the port and says what the bridge says", () => {
  const event = { is: "refused", code: "version_mismatch", message: "update it" } as const;
  const { state, actions } = step({ is: "connecting", attempt: 1, until: 9 }, event, 5);
  const reason = { cause: "version", message: "update it" };
  assert.deepEqual(state, { is: "failed", since: 5, reason });
  assert.deepEqual(actions, [{ do: "disconnect" }, { do: "fail_waiting", reason }]);
});

test("which end is older is known where the bridge says its protocol", () => {
  const older = (details: unknown) => {
    const { state } = step({ is: "connecting", attempt: 1, until: 9 }, { is: "refused", code: "version_mismatch", message: "", details }, 5);
    return state.is === "failed" ? state.reason.older : "?";
  };
  assert.deepEqual([older({ protocol: PROTOCOL + 1 }), older({ protocol: PROTOCOL - 1 })], ["extension", "program"]);
  for (const details of [undefined, null, {}, { protocol: "2" }, { protocol: PROTOCOL }]) assert.equal(older(details), undefined);
});

test("a host that does not answer is left", () => {
  const { state, actions } = step({ is: "connecting", attempt: 1, until: 9 }, { is: "due", wanted: true }, 9);
  assert.deepEqual([state.is, actions], ["waiting", [{ do: "disconnect" }]]);
});

test("the browsers' words mean what they say", () => {
  const cause = (text: string, stood = false) => reasonOf(text, stood).cause;
  assert.equal(cause("Specified native messaging host not found."), "host_missing");
  assert.equal(cause("No such native application harbor_bridge"), "host_missing");
  assert.equal(cause("Access to the specified native messaging host is forbidden."), "host_forbidden");
  assert.deepEqual([cause("An unexpected error occurred"), cause("An unexpected error occurred", true)], ["host_missing", "lost"]);
  for (const text of ["Native host has exited.", ""]) assert.deepEqual([cause(text), cause(text, true)], ["lost", "lost"]);
  assert.match(reasonOf("Native host has exited.", false).message, /harbor doctor/);
});

test("however it goes, one port at a time, never twice within the rest, and no timer without a state for it", () => {
  let seed = 7;
  const random = (below: number) => (seed = (seed * 1103515245 + 12345) % 2 ** 31) % below;
  const events = (wanted: boolean): Event[] => [
    { is: "want" },
    { is: "hello_accepted" },
    { is: "refused", code: "ERR_PERMISSION_DENIED", message: "no" },
    { ...LOST, wanted },
    { ...MISSING, wanted },
    { is: "due", wanted },
  ];
  for (let walk = 0; walk < 300; walk += 1) {
    let state: State = START;
    let now = 0;
    let ports = 0;
    for (let at = 0; at < 60; at += 1) {
      now += random(3) === 0 ? random(30_000) : 0;
      const wanted = random(2) === 0;
      const event = events(wanted)[random(6)] as Event;
      if (event.is === "closed" && ports === 0) continue;
      if (event.is === "closed") ports = 0;
      const before: State = state;
      const taken = step(before, event, now);
      for (const action of taken.actions) {
        if (action.do === "connect") {
          assert.equal(ports, 0, `${before.is} ${event.is}`);
          assert.ok(event.is === "want" || wanted, "nobody wants it");
          ports += 1;
        }
        if (action.do === "disconnect") ports = 0;
      }
      state = taken.state;
      assert.equal(ports, state.is === "connecting" || state.is === "ready" ? 1 : 0, `${before.is} ${event.is} ${state.is}`);
      const until = deadline(state);
      assert.ok(until === undefined || until <= now + Math.max(HELLO_MS, LONGEST_WAIT_MS));
    }
  }
});
