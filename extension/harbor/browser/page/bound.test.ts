// Snapshots within their bound, searched, and compared.

import assert from "node:assert/strict";
import { test } from "node:test";
import { bounded, difference, searched, written } from "./bound.ts";
import type { Line } from "./snapshot.ts";

const line = (depth: number, text: string): Line => ({ depth, text });
const TABLE = [line(0, "main"), line(1, "table"), ...Array.from({ length: 2_000 }, (_, row) => line(2, `row: ${row} | Name ${row}`)), line(0, "contentinfo")];

test("what does not fit is counted", () => {
  const text = bounded(TABLE.map(written), 20_000);
  assert.ok(text.length < 20_200, String(text.length));
  const shown = text.split("\n").length - 1;
  assert.match(text, new RegExp(`… ${TABLE.length - shown} more lines`));
});

test("a line that is too long by itself is cut, and the others are there", () => {
  const text = bounded(["x".repeat(5_000), "after"], 2_000);
  assert.match(text, /^x{1000}…\nafter$/);
});

test("what is found stands with what is around it, and the way to it", () => {
  const { text, count } = searched(TABLE, (found) => found.includes("Name 1999"), 20, 20_000);
  assert.equal(count, 1);
  assert.deepEqual(text.split("\n"), ["- main", "  - table", "    - row: 1997 | Name 1997", "    - row: 1998 | Name 1998", "    - row: 1999 | Name 1999", "- contentinfo"]);
});

test("a difference has what came, with the way to it, and what went", () => {
  const before = [line(0, "main"), line(1, "status: old"), line(1, "button")];
  const after = [line(0, "main"), line(1, "status: new"), line(1, "button"), line(1, "button")];
  assert.deepEqual(difference(before, after), ["  - main", "+   - status: new", "+   - button", "-   - status: old"]);
  assert.deepEqual(difference(after, after), []);
});
