// Which files a field takes.

import assert from "node:assert/strict";
import { test } from "node:test";
import { isAccepted } from "./accepts.ts";

test("a field takes what its list of kinds names", () => {
  for (const [accept, name, type, is] of [
    ["", "a.bin", "", true],
    [".pdf", "CV.PDF", "", true],
    [".pdf", "cv.txt", "text/plain", false],
    ["image/*, .pdf", "a.png", "image/png", true],
    ["image/*", "a.pdf", "application/pdf", false],
    ["image/png", "a.jpg", "image/jpeg", false],
    ["*/*", "a", "", true],
    [" , ", "a", "", true],
  ] as const) assert.equal(isAccepted(accept, { name, type }), is, `${accept} ${name}`);
});
