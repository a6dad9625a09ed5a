// A store that is read once, and says what was written last.

import assert from "node:assert/strict";
import { test } from "node:test";
import { cached } from "./cached.ts";

test("it is read once for each key, again when it was written or could not be read", async () => {
  const kept = new Map<string, unknown>([["a", 1]]);
  let reads = 0;
  let fails = false;
  const store = cached({
    async get(key) {
      reads += 1;
      if (fails) throw new Error("no");
      return kept.get(key);
    },
    set: async (key, value) => void kept.set(key, value),
  });
  assert.deepEqual(await Promise.all([store.get("a"), store.get("a"), store.get("b")]), [1, 1, undefined]);
  assert.equal(reads, 2);
  await store.set("a", 2);
  assert.deepEqual([await store.get("a"), await store.get("a"), reads], [2, 2, 3]);
  fails = true;
  await store.set("a", 3);
  await assert.rejects(store.get("a"), /no/);
  fails = false;
  assert.equal(await store.get("a"), 3);
});
