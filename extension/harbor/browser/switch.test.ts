// What the person has chosen about the browser tools outlives the background.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { BrowserSource } from "./source.ts";
import { BrowserTools, parseChange } from "./switch.ts";

test("elements are marked until the person switches that off, and after a restart as they left it", async () => {
  Object.assign(globalThis, { chrome: { permissions: { contains: async () => false } } });
  const kept = new Map<string, unknown>();
  const store = { get: async (key: string) => kept.get(key), set: async (key: string, value: unknown) => void kept.set(key, value) };
  const marks: boolean[] = [];
  const source = { onChange: () => undefined, switch: async () => undefined, refresh: async () => undefined, sessions: async () => [], mark: (on: boolean) => void marks.push(on), id: undefined };
  const made = () => new BrowserTools(source as unknown as BrowserSource, store, () => undefined);
  const tools = made();
  assert.equal((await tools.change({})).marks, true);
  assert.equal((await tools.change(parseChange({ marks: false }))).marks, false);
  assert.equal((await made().change({})).marks, false);
  assert.deepEqual([marks, parseChange({ marks: "no" })], [[true, false, false], {}]);
});
