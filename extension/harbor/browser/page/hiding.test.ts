// Shapes that leave nothing of an element.

import assert from "node:assert/strict";
import { test } from "node:test";
import { isEmptyShape } from "./hiding.ts";

test("a shape that leaves nothing is told from one that leaves something", () => {
  for (const path of ["inset(100%)", "inset(50%)", "inset(0px 100% 0px 0px)", "circle(0px)", "circle(0px at 50% 50%)", "ellipse(0px 10px)", "polygon(0px 0px, 0px 0px, 0px 0px)"]) assert.ok(isEmptyShape(path), path);
  for (const path of ["inset(10%)", "inset(0px round 8px)", "circle(50%)", "polygon(0% 0%, 100% 0%, 50% 100%)", "path('M0 0')", "url(#x)"]) assert.ok(!isEmptyShape(path), path);
});
