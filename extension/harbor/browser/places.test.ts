// What one verdict is about.

import assert from "node:assert/strict";
import { test } from "node:test";
import { placeOf } from "./places.ts";

test("all of an origin is one place, and nothing else is", () => {
  for (const [url, place] of [
    ["https://a.example/x?y#z", "https://a.example"],
    ["HTTPS://A.example:443", "https://a.example"],
    ["http://a.example:8080/", "http://a.example:8080"],
    // A name or a password is refused, whatever its host is.
    ["https://me@a.example/", "https://me@a.example/"],
    ["https://:pw@a.example/", "https://:pw@a.example/"],
    ["about:blank", "about:blank"],
    ["about:blank#x", "about:blank#x"],
    ["blob:https://a.example/1-2", "blob:https://a.example/1-2"],
    ["data:text/html,x", "data:text/html,x"],
    ["file:///etc/passwd", "file:///etc/passwd"],
    ["", ""],
  ] as const) {
    assert.equal(placeOf(url), place);
  }
});
