// Which frames get the API, as grants come and go.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Frames, parseOrigins, patternsOf } from "./frames.ts";

const A = "https://a.example";
const B = "http://localhost:8080";

function played(known: unknown = undefined) {
  const kept = new Map<string, unknown>([["frames", known]]);
  const store = { get: async (key: string) => kept.get(key), set: async (key: string, value: unknown) => void kept.set(key, value) };
  const placed: string[][] = [];
  return { placed, frames: new Frames(store, async (patterns) => void placed.push(patterns)) };
}

test("scripts follow the grants, one change after the other", async () => {
  const { frames, placed } = played();
  await Promise.all([frames.add(A), frames.add(A), frames.add(B), frames.replace([B]), frames.replace([])]);
  assert.deepEqual(placed, [[`${A}/*`], [`${A}/*`, `${B}/*`], [`${B}/*`], []]);
});

test("what was registered is so again after an update", async () => {
  const { frames, placed } = played([A]);
  await frames.restore();
  assert.deepEqual(placed, [[`${A}/*`]]);
});

test("a registration that fails does not stand in the way of the next", async () => {
  const placed: string[][] = [];
  const store = { get: async () => [A], set: async () => undefined };
  const frames = new Frames(store, async (patterns) => {
    placed.push(patterns);
    if (placed.length === 1) throw new Error("no");
  });
  await assert.rejects(frames.restore(), /no/);
  await frames.replace([B]);
  assert.deepEqual(placed.at(-1), [`${B}/*`]);
});

test("only origins of pages are in it", () => {
  assert.deepEqual(parseOrigins([A, A, "null", 1, "https://*", "http://a.example", "client://x", "*://*/*", B]), [A, B]);
  assert.deepEqual(parseOrigins({ 0: A }), []);
  assert.deepEqual(patternsOf([A, B, "http://localhost"], "firefox"), [`${A}/*`, "http://localhost/*"]);
});
