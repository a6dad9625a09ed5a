// What is passed on of a flood, by a clock that the test winds.

import assert from "node:assert/strict";
import { test } from "node:test";
import { PACE_MS, paced } from "./pace.ts";

/** A clock, and when what was passed on. */
function wound() {
  let now = 0;
  const timers = new Map<() => void, number>();
  const passed: [at: number, value: number][] = [];
  const pace = paced<number>(
    (value) => passed.push([now, value]),
    (ms, call) => {
      const due = () => (timers.delete(due), call());
      timers.set(due, now + ms);
      return () => timers.delete(due);
    },
  );
  const wind = (ms: number) => {
    for (const end = now + ms; now < end; ) {
      now += 1;
      for (const [due, at] of [...timers]) if (at <= now) due();
    }
  };
  return { pace, passed, wind, timers };
}

test("the first is passed on at once; of what comes too soon only the last, when its time has come", () => {
  const { pace, passed, wind } = wound();
  for (const value of [1, 2, 3]) pace.say(value);
  assert.deepEqual(passed, [[0, 1]]);
  wind(PACE_MS - 1);
  pace.say(4);
  assert.equal(passed.length, 1);
  wind(1);
  assert.deepEqual(passed, [[0, 1], [PACE_MS, 4]]);
});

test("what comes seldom is passed on as it comes, and no timer is left", () => {
  const { pace, passed, wind, timers } = wound();
  for (const value of [1, 2, 3]) {
    pace.say(value);
    wind(PACE_MS);
  }
  assert.deepEqual(passed, [[0, 1], [PACE_MS, 2], [2 * PACE_MS, 3]]);
  wind(PACE_MS);
  assert.equal(timers.size, 0);
});

test("a flood is as many as its time allows", () => {
  const { pace, passed, wind } = wound();
  for (let value = 0; value < 10_000; value += 1) {
    pace.say(value);
    if (value % 10 === 0) wind(1);
  }
  assert.equal(passed.length, 1 + Math.floor(1_000 / PACE_MS));
  for (const [at, [when]] of passed.entries()) assert.equal(when, at * PACE_MS);
});

test("at the end the last one is passed on, once, and nothing after it", () => {
  const { pace, passed, wind, timers } = wound();
  for (const value of [1, 2, 3]) pace.say(value);
  pace.finish();
  assert.deepEqual(passed, [[0, 1], [0, 3]]);
  wind(10 * PACE_MS);
  pace.finish();
  assert.deepEqual([passed.length, timers.size], [2, 0]);
});
