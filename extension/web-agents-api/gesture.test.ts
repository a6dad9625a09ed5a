// Each click has one number, also one that only the browser has seen.

import assert from "node:assert/strict";
import { test } from "node:test";
import { FRESH_MS, Gestures } from "./gesture.ts";

test("a click has one number, the next one another; without one there is none", () => {
  const gestures = new Gestures();
  assert.equal(gestures.last(false, 0), 0);
  gestures.happened(10);
  assert.deepEqual([gestures.last(true, 11), gestures.last(true, 12), gestures.last(false, 13)], [1, 1, 0]);
  gestures.happened(20);
  assert.equal(gestures.last(true, 21), 2);
});

test("a click in a frame counts once while it is fresh", () => {
  const gestures = new Gestures();
  assert.deepEqual([gestures.last(true, 0), gestures.last(true, FRESH_MS), gestures.last(true, FRESH_MS + 1)], [1, 1, 2]);
});
