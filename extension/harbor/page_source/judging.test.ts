// Which pages' tools may be looked at, with a browser and a person's choices that are made up; and what the panel asks.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Sensitive } from "../page/sensitive.ts";
import { Judging } from "./judging.ts";
import { parsePageTools, parsePageToolsChange } from "./view.ts";

const ORIGIN = "https://a.example";

function made(more: { tab?: object | undefined; mayRead?: boolean; fields?: Sensitive[]; blocked?: string[]; askFirst?: string[]; kept?: { [key: string]: unknown }; isUnknown?: boolean } = {}) {
  const { mayRead = true, fields = [], blocked = [], askFirst = [], kept = {} } = more;
  const tab = "tab" in more ? more.tab : { id: 3, windowId: 1, url: `${ORIGIN}/x`, title: "A shop", active: false, status: "complete" };
  const get = async () => tab ?? Promise.reject(new Error("no tab"));
  Object.assign(globalThis, { chrome: { tabs: { get }, permissions: { contains: async () => mayRead } } });
  const store = { get: async (key: string) => kept[key], set: async (key: string, value: unknown) => void (kept[key] = value) };
  return { judging: new Judging(store, async () => (more.isUnknown ? undefined : { blocked, askFirst }), { fields: async () => fields }), kept };
}

test("off at first, a site is on once the person has said so, and off again", async () => {
  const { judging, kept } = made();
  assert.deepEqual(await judging.judge(3), { origin: ORIGIN, title: "A shop", isOn: false });
  await judging.choose(ORIGIN, true);
  assert.deepEqual([await judging.judge(3), kept], [{ origin: ORIGIN, title: "A shop", isOn: true }, { [`pageTools ${ORIGIN}`]: "on" }]);
  assert.deepEqual([await judging.isOn("https://b.example"), await judging.isOn(undefined)], [false, false]);
  await judging.choose(ORIGIN, false);
  assert.equal((await judging.judge(3))?.isOn, false);
});

test("what the panel would not attach by itself is not looked at", async () => {
  const kept = { [`pageTools ${ORIGIN}`]: "on" };
  const page = { id: 3, windowId: 1, title: "", active: false, status: "complete" };
  const nothing = [
    { tab: undefined }, { tab: page }, { tab: { ...page, url: "about:blank" } }, { tab: { ...page, url: "file:///x" } }, { tab: { ...page, url: `${ORIGIN}/`, incognito: true } }, { tab: { ...page, url: `${ORIGIN}/`, discarded: true } },
    { mayRead: false }, { fields: ["password"] as Sensitive[] }, { blocked: ["a.example"] }, { askFirst: ["*.example"] }, { kept: { ...kept, [`page ${ORIGIN}`]: "never" } }, { isUnknown: true },
  ];
  for (const one of nothing) assert.equal(await made({ kept, ...one }).judging.judge(3), undefined, JSON.stringify(one));
  assert.equal((await made({ kept: { ...kept, [`page ${ORIGIN}`]: "off" } }).judging.judge(3))?.isOn, true);
});

test("a page that does not answer is neither", async () => {
  made();
  const judging = new Judging({ get: async () => "on", set: async () => undefined }, async () => ({ blocked: [], askFirst: [] }), { fields: async () => Promise.reject(new Error("busy")) });
  await assert.rejects(judging.judge(3), /busy/);
});

test("what the panel asks names a tab, and a switch its site", () => {
  assert.deepEqual(parsePageToolsChange({ tab: 3, origin: ORIGIN, on: true, more: 1 }), { tab: 3, origin: ORIGIN, on: true, look: false });
  assert.deepEqual(parsePageToolsChange({ tab: 3, origin: 7, on: "yes", look: true }), { tab: 3, look: true });
  for (const tab of [undefined, "3", 1.5]) assert.throws(() => parsePageToolsChange({ tab }), { code: "ERR_INVALID_REQUEST" });
  assert.deepEqual([parsePageTools({ tab: 3, tools: 0, on: false }), parsePageTools({}), parsePageTools(undefined)], [{ tab: 3, tools: 0, on: false }, undefined, undefined]);
});
