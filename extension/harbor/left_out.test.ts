// What was left out is kept beside the background, by site.

import assert from "node:assert/strict";
import { test } from "node:test";
import { LeftOut } from "./left_out.ts";

const [A, B] = ["https://a.example", "https://b.example"];

test("what was shown and not chosen is left out, until it is chosen; a restart changes nothing", async () => {
  const kept = new Map<string, unknown>();
  const store = { get: async (key: string) => kept.get(key), set: async (key: string, value: unknown) => void kept.set(key, value) };
  const list = new LeftOut(store);
  await Promise.all([list.note(A, ["a/*", "b/*"], ["a/*"]), list.note(B, ["a/*"], []), list.note(A, ["c/*"], [])]);
  const after = new LeftOut(store);
  assert.deepEqual([await list.of(A), await after.of(A), await after.of(B)], [["b/*", "c/*"], ["b/*", "c/*"], ["a/*"]]);
  await after.note(A, [], ["b/*"]);
  await after.note(B, ["a/*"], ["a/*"]);
  assert.deepEqual([await after.of(A), await after.of(B)], [["c/*"], []]);
  assert.deepEqual(kept.get("leftOut"), [[A, ["c/*"]]]);
});
