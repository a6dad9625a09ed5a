// Numbers of documents, in a browser that is made up.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Documents } from "./documents.ts";
import { Numbers } from "./numbers.ts";
import type { Command } from "./page/commands.ts";

test("no two documents get one number, whichever background gives it", async () => {
  const kept = new Map<string, unknown>();
  const store = { get: async (key: string) => kept.get(key), set: async (key: string, value: unknown) => void kept.set(key, value) };
  /** The number of the document in each tab: the first that it was told. */
  const numbers = new Map<number, number>();
  const executeScript = async ({ target, args }: { target: { tabId: number }; args: [{ command: Command } | null] }) => {
    const command = args[0]?.command;
    if (command === undefined) return [{ result: true }];
    await new Promise((next) => setImmediate(next));
    if (!numbers.has(target.tabId)) numbers.set(target.tabId, command.generation);
    return [{ result: { generation: numbers.get(target.tabId), secrets: [], notes: [], reply: { is: true } } }];
  };
  Object.assign(globalThis, { chrome: { scripting: { executeScript } } });
  const surely = {
    tell: () => undefined, leaves: () => ({ gone: new Promise<void>(() => undefined), stop: () => undefined }),
    allowed: async () => "https://a.example",
    may: async () => true,
  };
  for (const background of [0, 1, 2]) {
    const documents = new Documents(surely, new Numbers(store));
    const tabs = Array.from({ length: 5 }, (_, n) => 10 * background + n);
    for (let time = 0; time < 3; time += 1) await Promise.all(tabs.map((tab) => documents.run(tab, 0, "has", {})));
    for (const tab of tabs) assert.equal(documents.frameOf(tab, `f${numbers.get(tab)}e1`), 0);
  }
  assert.equal(new Set(numbers.values()).size, 15);
});

test("what has just answered is not asked whether it does, but before an action", async () => {
  let asked = 0;
  const executeScript = async ({ args }: { args: [{ command: Command } | null] }) => {
    const command = args[0]?.command;
    if (command === undefined) asked += 1;
    return [{ result: command === undefined ? true : { generation: command.generation, secrets: [], notes: [], reply: { lines: [] } } }];
  };
  Object.assign(globalThis, { chrome: { scripting: { executeScript } } });
  const surely = { tell: () => undefined, leaves: () => ({ gone: new Promise<void>(() => undefined), stop: () => undefined }), allowed: async () => "https://a.example", may: async () => true };
  const documents = new Documents(surely, new Numbers({ get: async () => undefined, set: async () => undefined }));
  for (let time = 0; time < 3; time += 1) await documents.run(1, 0, "note", {});
  assert.equal(asked, 1);
  await documents.run(1, 0, "hover", { target: "e1" });
  assert.equal(asked, 2);
  await documents.run(1, 5, "note", {});
  assert.equal(asked, 3);
});
