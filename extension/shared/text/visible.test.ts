// What a person sees of a foreign text: all of it, or that there is more.

import assert from "node:assert/strict";
import { test } from "node:test";
import { MOST, SHOWN, visible, visibleLines, visibleProse } from "./visible.ts";

test("what would be invisible is visible", () => {
  const cases: [string, string][] = [
    ["plain text", "plain text"],
    ["Bücher 書 🦉", "Bücher 書 🦉"],
    ["a\u202Eb", "a⟨202E⟩b"],
    ["a\u2066b\u2069", "a⟨2066⟩b⟨2069⟩"],
    ["pay\u200Bpal", "pay⟨200B⟩pal"],
    ["\uFEFFa\u00ADb", "⟨FEFF⟩a⟨00AD⟩b"],
    ["a\u0000b\u001B[31m", "a⟨0000⟩b⟨001B⟩[31m"],
    ["tag\u{E0041}", "tag⟨E0041⟩"],
    ["a\nb\r\nc\td", "a⏎b⏎c⇥d"],
    ["a\u2028b", "a⟨2028⟩b"],
    ["a\u3164b", "a⟨3164⟩b"],
    ["a\u00A0\u3000b", "a  b"],
    ["lone \uD800", "lone ⟨D800⟩"],
    [`z${"\u0301".repeat(50)}`, `z${"\u0301".repeat(3)}⟨…⟩`],
  ];
  for (const [foreign, text] of cases) assert.deepEqual(visible(foreign), { text }, JSON.stringify(foreign));
});

test("what is long is cut where a letter ends, and the rest is at hand", () => {
  const { text, whole } = visible("🦉".repeat(SHOWN + 1));
  assert.equal([...text].length, SHOWN + 1);
  assert.ok(text.endsWith("🦉…"));
  assert.equal(whole, "🦉".repeat(SHOWN + 1));
  assert.equal(visible("x".repeat(SHOWN)).whole, undefined);
  assert.ok((visible("x".repeat(10 * MOST)).whole?.length ?? 0) < MOST + 10);
});

test("lines stay lines, and hide nothing either", () => {
  assert.equal(visibleLines("a\r\nb\u2028\u202Ec\td"), "a\nb⟨2028⟩⟨202E⟩c⇥d");
  assert.equal(visibleLines("abc", 2), "ab\n[…]");
});

test("whatever it is, nothing that hides or reorders is left", () => {
  let seed = 3;
  const random = (below: number) => (seed = (seed * 1103515245 + 12345) % 2 ** 31) % below;
  for (let walk = 0; walk < 500; walk += 1) {
    const text = Array.from({ length: 40 }, () => String.fromCharCode(random(0x10000))).join("");
    const shown = visible(text);
    assert.doesNotMatch(shown.whole ?? shown.text, /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
  }
});

test("prose keeps lines, tabs, emoji and joined letters, and hides nothing else", () => {
  for (const kept of ["a\n\tb", "⚠\uFE0F", "👩\u200D💻", "👍🏽", "1\uFE0F\u20E3", "می\u200Cخواهم", "क्\u200Dष"]) assert.equal(visibleProse(kept), kept);
  assert.equal(visibleProse("a\r\nb\rc"), "a\nb\nc");
  assert.equal(visibleProse("a\u200Db\uFE0F"), "a⟨200D⟩b⟨FE0F⟩");
  assert.equal(visibleProse("⚠\uFE0F\uFE0F\u200D"), "⚠\uFE0F⟨FE0F⟩⟨200D⟩");
  assert.equal(visibleProse("می\u200C\u200Cخ \u202Ea \uD800 \0"), "می⟨200C⟩⟨200C⟩خ ⟨202E⟩a ⟨D800⟩ ⟨0000⟩");
});
