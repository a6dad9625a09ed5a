// The switches, and what is said of Harbor.

import assert from "node:assert/strict";
import { test } from "node:test";
import { FLAG_NAMES } from "../flags.ts";
import { flagsFor, optionsHandler } from "./handler.ts";
import { FLAG_WORDS, piecesOf, saidOf } from "./words.ts";

const CONTEXT = { signal: new AbortController().signal, progress: () => undefined, chunk: () => undefined, onMore: () => undefined };

const NONE = { all: async () => [], set: async () => [] };

test("a site's preference is taken as it is written, or refused", async () => {
  const set: unknown[] = [];
  const store = { get: async () => undefined, set: async () => undefined };
  const handle = optionsHandler(store, { ...NONE, set: async (...all) => (set.push(all), []) }, () => undefined);
  await handle("prefer", { origin: "https://a.example", preference: "always" }, CONTEXT);
  await handle("prefer", { origin: "https://a.example", preference: "missing" }, CONTEXT);
  assert.deepEqual(set, [["https://a.example", "always"], ["https://a.example", undefined]]);
  for (const wrong of [{}, { origin: "https://a.example" }, { origin: "https://a.example/x", preference: "never" }, { origin: "http://a.example", preference: "never" }]) {
    await assert.rejects(handle("prefer", wrong, CONTEXT), { code: "ERR_INVALID_REQUEST" });
  }
});

test("a switch is kept, and the others stay as they were", async () => {
  const kept = new Map<string, unknown>([["flags", { toolAccess: false }]]);
  const store = { get: async (key: string) => kept.get(key), set: async (key: string, value: unknown) => void kept.set(key, value) };
  let looks = 0;
  const handle = optionsHandler(store, NONE, () => (looks += 1));
  assert.deepEqual(await handle("look", {}, CONTEXT), { textGeneration: true, toolAccess: false, toolCalling: true, agentRuns: true, pageTools: true, browserInteraction: false, screenshots: false, browserControl: false });
  assert.deepEqual(await handle("switch", { flag: "toolCalling", on: false }, CONTEXT), { textGeneration: true, toolAccess: false, toolCalling: false, agentRuns: true, pageTools: true, browserInteraction: false, screenshots: false, browserControl: false });
  assert.deepEqual([kept.get("flags"), looks], [{ textGeneration: true, toolAccess: false, toolCalling: false, agentRuns: true, pageTools: true, browserInteraction: false, screenshots: false, browserControl: false }, 1]);
  for (const wrong of [{}, { flag: "other", on: true }, { flag: "__proto__", on: true }, { flag: "toolAccess", on: "yes" }]) {
    await assert.rejects(handle("switch", wrong, CONTEXT), { code: "ERR_INVALID_REQUEST" });
  }
  await assert.rejects(handle("host_grant_permission", {}, CONTEXT), { code: "ERR_INVALID_REQUEST" });
});

test("the panel of harbor is told how the switches are, and turns one that there is", async () => {
  const kept = new Map<string, unknown>();
  const store = { get: async (key: string) => kept.get(key), set: async (key: string, value: unknown) => void kept.set(key, value) };
  assert.deepEqual([(await flagsFor(store, { ask: "flags" })).toolAccess, kept.size], [true, 0]);
  assert.equal((await flagsFor(store, { flag: "toolAccess", on: false })).toolAccess, false);
  assert.equal((await flagsFor(store, {})).toolAccess, false);
  for (const wrong of [{ flag: "x", on: true }, { flag: "toolAccess" }, { flag: null, on: true }]) await assert.rejects(flagsFor(store, wrong), { code: "ERR_INVALID_REQUEST" });
});

test("commands stand out instead of having backticks", () => {
  const said = (text: string) => piecesOf(text).map((piece) => (piece.code ? `<${piece.text}>` : piece.text));
  assert.deepEqual(said("run `harbor host install`, then `harbor doctor`"), ["run ", "<harbor host install>", ", then ", "<harbor doctor>"]);
  assert.deepEqual([said("a `b` c` d"), said("`"), said("plain"), said("")], [["a ", "<b>", " c` d"], ["`"], ["plain"], []]);
});

test("each state of Harbor has its words, and what does not work says what to do", () => {
  const said = (state: "idle" | "connecting" | "ready" | "failed") => saidOf({ is: "there", state, message: "run `harbor host install`" }, "chrome");
  assert.deepEqual([said("ready").tone, said("idle").tone, said("failed").tone], ["good", "plain", "bad"]);
  assert.match(said("failed").text, /harbor host install/);
  assert.match(saidOf({ is: "missing" }, "chrome").text, /chrome:\/\/extensions/);
  assert.match(saidOf({ is: "missing" }, "firefox").text, /about:addons.*harbor-firefox/);
  const texts = [saidOf({ is: "unknown" }, "chrome"), saidOf({ is: "lost" }, "chrome"), said("connecting"), ...FLAG_NAMES.map((name) => FLAG_WORDS[name])];
  for (const { text } of texts) assert.ok(text.length > 10);
});
