// Where areas of image maps are pointed at.

import assert from "node:assert/strict";
import { test } from "node:test";
import { middleOf } from "./areas.ts";

test("an area is pointed at in the middle of its shape", () => {
  assert.deepEqual(middleOf("rect", [10, 20, 30, 60]), { x: 20, y: 40 });
  assert.deepEqual(middleOf("", [0, 0, 10, 10]), { x: 5, y: 5 });
  assert.deepEqual(middleOf("circle", [7, 8, 3]), { x: 7, y: 8 });
  assert.deepEqual(middleOf("poly", [0, 0, 30, 0, 0, 30]), { x: 10, y: 10 });
  assert.equal(middleOf("default", []), undefined);
});
