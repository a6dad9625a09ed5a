// Which tabs have no page API, as documents come and go.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ClosedTabs } from "./closed_tabs.ts";

test("a tab is closed until another document is loaded, and again where the first one comes back", async () => {
  const kept = new Map<string, unknown>();
  const store = { get: async (key: string) => kept.get(key), set: async (key: string, value: unknown) => void kept.set(key, value) };
  const tabs = new ClosedTabs(store);
  await tabs.committed(1, false);
  assert.equal(await tabs.has(1), false);
  await tabs.close(1, [1]);
  assert.deepEqual([await tabs.has(1), await tabs.has(2)], [true, false]);
  // The next background knows it, too.
  assert.equal(await new ClosedTabs(store).has(1), true);
  await tabs.committed(1, false);
  assert.equal(await tabs.has(1), false);
  await tabs.committed(1, true);
  assert.equal(await tabs.has(1), true);
  await tabs.forget(1);
  await tabs.committed(1, true);
  assert.equal(await tabs.has(1), false);
});

test("what a page has asked for is aborted when its tab is closed, and what it asks for then is refused", async () => {
  const tabs = new ClosedTabs({ get: async () => undefined, set: async () => undefined });
  const signals: AbortSignal[] = [];
  let begun: () => void = () => undefined;
  const allBegun = new Promise<void>((resolve) => (begun = resolve));
  const asked = (tab: number) => tabs.whileOpen(tab, new AbortController().signal, (signal) => new Promise<string>((answer) => {
    signals.push(signal);
    signal.addEventListener("abort", () => answer("too late"));
    if (signals.length === 3) begun();
  }));
  const [one, two, other] = [asked(1), asked(2), asked(3)];
  await allBegun;
  const refused = [one, two].map((open) => assert.rejects(open, /load the page anew/));
  await tabs.close(1, [1, 2]);
  await Promise.all(refused);
  await assert.rejects(asked(1), /load the page anew/);
  assert.deepEqual(signals.map(({ aborted }) => aborted), [true, true, false]);
  const [ended, early] = [assert.rejects(other, { code: "ERR_PERMISSION_DENIED" }), assert.rejects(asked(4), /load the page anew/)];
  await tabs.close(3, [3, 4]);
  await Promise.all([ended, early]);
  assert.equal(await tabs.whileOpen(5, new AbortController().signal, async () => "answer"), "answer");
});

test("a tab that opened another one, or was opened there, is closed with it, whoever has it, and over one that is gone", async () => {
  const kept = new Map<string, unknown>();
  const tabs = new ClosedTabs({ get: async (key: string) => kept.get(key), set: async (key: string, value: unknown) => void kept.set(key, value) });
  for (const [tab, opener] of [[2, 1], [3, 2], [4, 3], [9, 8]] as const) await tabs.opened(tab, opener);
  await tabs.forget(3);
  await tabs.close(2, [2]);
  for (const tab of [1, 2, 4]) await tabs.committed(tab, false);
  assert.deepEqual(await Promise.all([1, 2, 4, 8, 9].map((tab) => tabs.has(tab))), [true, true, true, false, false]);
});

test("where a script can reach other tabs, loading anew opens none of them", async () => {
  const kept = new Map<string, unknown>();
  const tabs = new ClosedTabs({ get: async (key: string) => kept.get(key), set: async (key: string, value: unknown) => void kept.set(key, value) });
  await tabs.close(1, [1]);
  await tabs.opened(5, 4);
  await tabs.opened(2, 1);
  for (const tab of [1, 2]) await tabs.committed(tab, false);
  assert.deepEqual([await tabs.has(1), await tabs.has(2), await tabs.has(5)], [true, true, false]);
  await tabs.close(7, [7, 8]);
  for (const tab of [7, 8]) await tabs.committed(tab, false);
  assert.deepEqual([await tabs.has(7), await tabs.has(8)], [true, true]);
  await tabs.forget(8);
  assert.deepEqual([await tabs.has(7), await tabs.has(8)], [true, false]);
});
