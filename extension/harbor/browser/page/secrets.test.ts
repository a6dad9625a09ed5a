// Values of secret fields, as they are found in what a page shows.

import assert from "node:assert/strict";
import { test } from "node:test";
import { patternOf } from "./patterns.ts";

const gone = (value: string, text: string) => text.replace(patternOf(value), "-");

test("a value is found wherever it stands, a short one as a word", () => {
  assert.equal(gone("correct horse", "say correct horse!"), "say -!");
  assert.equal(gone("a+b(c)[d]-/\\^$.", "xa+b(c)[d]-/\\^$.x"), "x-x");
  assert.equal(gone('with "quotes"', 'value="with \\"quotes\\""'), 'value="-"');
  assert.equal(gone("917", "917, 1917, 917a, (917)"), "-, 1917, 917a, (-)");
  assert.equal(gone("añb", "añb añbñ"), "- añbñ");
});

test("a value is found where markup tears it, in HTML and in Markdown", () => {
  assert.equal(gone("secret-5&more", "<p>secr<b class=x>et</b><i></i>-5&amp;more</p>"), "<p>-</p>");
  assert.equal(gone("secret-5&more", "a secr**et**-[5&more](https://a.example) b"), "a -](https://a.example) b");
  assert.equal(gone("a_b*c", "a\\_<b>b</b>\\*c"), "-");
});

test("no value and no text make looking for it take long", () => {
  const markup = ["<", "<a>", "*", "_", "[", "](", "a](b)", "a<b>"];
  const began = performance.now();
  for (const one of markup) for (const other of markup) gone(`${one.repeat(50)}x`, other.repeat(20_000));
  assert.ok(performance.now() - began < 5_000);
});
