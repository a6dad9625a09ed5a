// When a provider takes requests again: read from a refusal, counted down.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CodedError } from "../../../shared/protocol/codes.ts";
import { changesIn, freeAt, freeWords } from "./free.ts";

const refused = (details: unknown) => new CodedError("ERR_MODEL_FAILED", "slow down", details);

test("it is known where the bridge passes the provider's word on, and nowhere else", () => {
  assert.equal(freeAt(refused({ retry_after_ms: 30_000 }), 1_000), 31_000);
  for (const error of [refused({ retry_after_ms: "30" }), refused({ retry_after_ms: -1 }), refused(undefined), new Error("x"), undefined]) assert.equal(freeAt(error, 0), undefined);
});

test("seconds are counted down to the end, and what is far away is told by the clock", () => {
  assert.deepEqual([90_000, 30_000, 29_001, 500, 0, -5].map((left) => freeWords(1_000_000 + left, 1_000_000).replace("The provider takes requests again", "")), [" in 1 min 30 s.", " in 30 s.", " in 30 s.", " in 1 s.", ".", "."]);
  assert.match(freeWords(3_600_000, 0), /again at \d\d:\d\d:\d\d\.$/);
  assert.deepEqual([changesIn(30_000, 0), changesIn(29_400, 0), changesIn(0, 0), changesIn(601_000, 0)], [1_000, 400, undefined, 1_000]);
});
