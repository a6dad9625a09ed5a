// What a list has to have, in which order.

import assert from "node:assert/strict";
import { test } from "node:test";
import { firstMissing } from "./verify.ts";

test("items are looked for in their order, each behind the one before", () => {
  const lines = ["list", 'listitem: Milk', "text: Bread", "listitem: Milk and honey"].map((text) => ({ depth: 0, text }));
  assert.equal(firstMissing(lines, ["Milk", "Bread"]), undefined);
  assert.equal(firstMissing(lines, ["Milk", "Milk"]), undefined);
  assert.equal(firstMissing(lines, ["Bread", "Milk"]), undefined);
  assert.equal(firstMissing(lines, ["Milk", "Milk", "Milk"]), 2);
  assert.equal(firstMissing(lines, ["honey", "Bread"]), 1);
});
