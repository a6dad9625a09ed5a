// How deep arguments are nested, whatever stands in their texts, and how large a prompt is in any script.

import assert from "node:assert/strict";
import { test } from "node:test";
import { MAX_ARGS, MAX_DEPTH, MAX_PROMPT, bytesOf, isDeep, isTooLarge } from "./page.ts";

const nested = (depth: number, open = "[", close = "]") => open.repeat(depth) + close.repeat(depth);

test("what is nested too deep is known before anything reads it", () => {
  assert.equal(isDeep(`{"a":${nested(MAX_DEPTH - 1)}}`), false);
  assert.equal(isDeep(`{"a":${nested(MAX_DEPTH)}}`), true);
  assert.equal(isDeep(`{"a":${nested(100_000)}}`), true);
  assert.equal(isDeep('{"a":'.repeat(MAX_DEPTH + 1)), true);
  assert.equal(isDeep(`[${"[],{},".repeat(MAX_ARGS / 6)}0]`), false);
});

test("brackets in texts are letters", () => {
  for (const text of ["[".repeat(MAX_DEPTH + 1), `\\"${"{".repeat(MAX_DEPTH + 1)}`, `${"[".repeat(MAX_DEPTH)}\\`]) {
    assert.equal(isDeep(JSON.stringify({ text, more: [] })), false);
  }
  // A text that ends is over: what follows counts.
  assert.equal(isDeep(`{"a\\\\":${nested(MAX_DEPTH)}}`), true);
});

test("a prompt is as large as its bytes, in any script", () => {
  for (const text of ["", "harbor", "\u007f\u0080", "\u07ff\u0800", "Hafen für Ποσειδῶν", "港口", "⚓🚢", "\uffff"]) {
    assert.equal(bytesOf(text), new TextEncoder().encode(text).length, text);
  }
  for (const [letter, bytes] of [["a", 1], ["ö", 2], ["港", 3]] as const) {
    const most = Math.floor(MAX_PROMPT / bytes);
    assert.deepEqual([isTooLarge(letter.repeat(most)), isTooLarge(letter.repeat(most + 1))], [false, true], letter);
  }
});
