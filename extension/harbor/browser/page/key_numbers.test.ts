// The numbers that pages read of keys.

import assert from "node:assert/strict";
import { test } from "node:test";
import { charNumber, keyNumber } from "./key_numbers.ts";

test("a key has the number that a US keyboard gives it", () => {
  const keys = ["Enter", "Tab", "Escape", " ", "ArrowLeft", "ArrowDown", "Delete", "a", "A", "5", "%", ".", ">", "'", "F1", "F12", "F24"];
  assert.deepEqual(keys.map(keyNumber), [13, 9, 27, 32, 37, 40, 46, 65, 65, 53, 53, 190, 190, 222, 112, 123, 135]);
  assert.deepEqual(["ü", "F25", "toString", ""].map(keyNumber), [0, 0, 0, 0]);
});

test("what is typed has the number of its character", () => {
  assert.deepEqual(["a", "A", ".", " ", "Enter"].map(charNumber), [97, 65, 46, 32, 13]);
});
