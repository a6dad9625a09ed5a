// Whose `LanguageModel` an origin has: kept, and placed as scripts.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Preferences, parsePreferences } from "./preferences.ts";

const A = "https://a.example";
const B = "http://localhost:8080";

function played() {
  const kept = new Map<string, unknown>();
  const store = { get: async (key: string) => kept.get(key), set: async (key: string, value: unknown) => void kept.set(key, value) };
  const placed = new Map<string, string[]>();
  return { placed, preferences: new Preferences(store, async (preference, patterns) => void placed.set(preference, patterns)) };
}

test("each origin has one script at most, and the last word counts", async () => {
  const { placed, preferences } = played();
  await Promise.all([preferences.set(A, "always"), preferences.set(B, "never"), preferences.set(A, "unavailable")]);
  assert.deepEqual([...placed], [["always", []], ["unavailable", [`${A}/*`]], ["never", [`${B}/*`]]]);
  assert.deepEqual(await preferences.set(A, undefined), [{ origin: B, preference: "never" }]);
  placed.clear();
  await preferences.restore();
  assert.deepEqual([...placed], [["always", []], ["unavailable", []], ["never", [`${B}/*`]]]);
});

test("what is stored and is no preference of an origin is left out", () => {
  assert.deepEqual(parsePreferences({ [A]: "always", [B]: "sometimes", "http://a.example": "never", "*": "always" }), [{ origin: A, preference: "always" }]);
  assert.deepEqual(parsePreferences("always"), []);
});
