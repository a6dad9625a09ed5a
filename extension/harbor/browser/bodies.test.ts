// Where bodies are kept.

import assert from "node:assert/strict";
import { test } from "node:test";
import { KeptBodies } from "./bodies.ts";

test("bodies are kept at the site that was asked about, for that session, from then on", () => {
  const bodies = new KeptBodies();
  assert.equal(bodies.areKept("one", "https://a.example/x"), false);
  assert.deepEqual([bodies.keep("one", "https://a.example"), bodies.keep("one", "https://a.example")], [false, true]);
  assert.equal(bodies.areKept("one", "https://a.example/x"), true);
  for (const [session, url] of [["one", "https://b.example/"], ["one", "http://a.example/"], ["two", "https://a.example/"], ["one", "about:blank"]] as const) assert.equal(bodies.areKept(session, url), false, url);
  bodies.ended("one");
  assert.equal(bodies.areKept("one", "https://a.example/x"), false);
});
