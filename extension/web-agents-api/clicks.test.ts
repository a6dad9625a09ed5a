// One click opens one window at most.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Clicks } from "./clicks.ts";

const REQUIRED = { code: "ERR_USER_GESTURE_REQUIRED" };

test("the settings take a click that has opened nothing else", () => {
  const clicks = new Clicks();
  assert.throws(() => clicks.forSettings(0), REQUIRED);
  clicks.forSettings(1);
  assert.throws(() => clicks.forSettings(1), REQUIRED);
  assert.equal(clicks.forQuestion(1).gesture, 0, "nor a question besides");
  clicks.forSettings(2);
});

test("a question that was opened, or may be, leaves none for the settings", () => {
  const clicks = new Clicks();
  const [first, second] = [clicks.forQuestion(1), clicks.forQuestion(1)];
  assert.deepEqual([first.gesture, second.gesture], [1, 1], "which of them is asked is harbor's to say");
  first.none();
  assert.throws(() => clicks.forSettings(1), REQUIRED);
  second.none();
  clicks.forSettings(1);
  // What is said late of an older click changes nothing.
  const old = clicks.forQuestion(2);
  clicks.forQuestion(3);
  old.none();
  assert.throws(() => clicks.forSettings(3), REQUIRED);
});

test("what needs no question goes on without a click", () => {
  assert.equal(new Clicks().forQuestion(0).gesture, 0);
});
