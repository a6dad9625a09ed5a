// Values of secret fields, as they are found in what a page shows.

import assert from "node:assert/strict";
import { test } from "node:test";
import { patternOf } from "./patterns.ts";

test("a value is found wherever it stands, a short one as a word", () => {
  const gone = (value: string, text: string) => text.replace(patternOf(value), "-");
  assert.equal(gone("correct horse", "say correct horse!"), "say -!");
  assert.equal(gone("a+b(c)[d]-/\\^$.", "xa+b(c)[d]-/\\^$.x"), "x-x");
  assert.equal(gone('with "quotes"', 'value="with \\"quotes\\""'), 'value="-"');
  assert.equal(gone("917", "917, 1917, 917a, (917)"), "-, 1917, 917a, (-)");
  assert.equal(gone("añb", "añb añbñ"), "- añbñ");
});
