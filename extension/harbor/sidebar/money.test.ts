// Sums of money, from nothing to much.

import assert from "node:assert/strict";
import { test } from "node:test";

import { dollars } from "./money.ts";

test("small sums are not nothing", () => {
  for (const [microdollars, words] of [
    [0, "free"],
    [99, "under $0.0001"],
    [4_299, "$0.0042"],
    [10_000, "$0.01"],
    [1_050_000, "$1.05"],
  ] as const) {
    assert.equal(dollars(microdollars), words);
  }
});
