// Where keys take the caret.

import assert from "node:assert/strict";
import { test } from "node:test";
import { caretAfter } from "./caret.ts";

const BY_LETTER = { byWord: false, isWhole: false };

test("keys take the caret by letters, words and lines", () => {
  const text = "one two\nthree\nx";
  const to = (at: number, key: string, how = BY_LETTER) => caretAfter(text, at, key, how);
  assert.deepEqual([to(3, "ArrowLeft"), to(3, "ArrowRight"), to(0, "ArrowLeft"), to(text.length, "ArrowRight")], [2, 4, 0, text.length]);
  assert.deepEqual([to(10, "Home"), to(10, "End"), to(3, "Home"), to(3, "End")], [8, 13, 0, 7]);
  assert.deepEqual([to(10, "Home", { byWord: true, isWhole: true }), to(10, "End", { byWord: true, isWhole: true })], [0, text.length]);
  assert.deepEqual([to(6, "ArrowLeft", { byWord: true, isWhole: false }), to(0, "ArrowRight", { byWord: true, isWhole: false })], [4, 3]);
  assert.deepEqual([to(10, "ArrowUp"), to(2, "ArrowUp"), to(10, "ArrowDown"), to(5, "ArrowDown"), to(text.length, "ArrowDown")], [2, 0, text.length, 13, text.length]);
  assert.equal(to(1, "PageUp"), undefined);
});

test("a letter of two halves is passed whole", () => {
  assert.equal(caretAfter("a😀b", 1, "ArrowRight", BY_LETTER), 3);
  assert.equal(caretAfter("a😀b", 3, "ArrowLeft", BY_LETTER), 1);
});
