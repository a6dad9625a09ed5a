// Boxes of a question, and its sentences.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { AskedServer } from "../own.ts";
import { chosenOf, everyState, ticksOf, turned } from "./ticks.ts";
import { belowWords, everyWords, onceButton, onceWords, wishWords } from "./words.ts";

const changed = { changed: { parts: [], blocked: true } };
const server = (id: string, tools: AskedServer["tools"], more: Partial<AskedServer> = {}): AskedServer => ({ id, label: id, state: "running", tools, ...more });
const whole = server("a", [{ name: "a/*" }, { name: "a/one" }, { name: "a/two" }]);

test("all tools of a server are chosen as one, until one is taken out", () => {
  const ticks = ticksOf([whole]);
  assert.deepEqual([everyState(whole, ticks), chosenOf([whole], ticks)], ["on", ["a/*"]]);
  const less = turned([whole], ticks, "a/two");
  assert.deepEqual([everyState(whole, less), chosenOf([whole], less)], ["some", ["a/one"]]);
  assert.deepEqual(chosenOf([whole], turned([whole], less, "a/*")), ["a/*"]);
  assert.deepEqual(chosenOf([whole], turned([whole], ticks, "a/*")), []);
});

test("what has changed is not ticked, and no box for all ticks or covers it", () => {
  const poisoned = server("a", [{ name: "a/*" }, { name: "a/one" }, { name: "a/two", ...changed }]);
  const ticks = ticksOf([poisoned]);
  assert.deepEqual([everyState(poisoned, ticks), chosenOf([poisoned], ticks)], ["some", ["a/one"]]);
  const none = turned([poisoned], ticks, "a/*");
  assert.deepEqual(chosenOf([poisoned], none), []);
  assert.deepEqual(chosenOf([poisoned], turned([poisoned], none, "a/*")), ["a/one"]);
  assert.deepEqual(chosenOf([poisoned], turned([poisoned], ticks, "a/two")), ["a/*"]);
  const named = server("a", [{ name: "a/two", ...changed }]);
  assert.deepEqual(chosenOf([named], ticksOf([named])), []);
});

test("a question begins without what is broken or was left out, and without what is allowed already", () => {
  const failed = server("f", [{ name: "f/*" }, { name: "f/x" }], { state: "failed" });
  const left = server("l", [{ name: "l/*", before: "left out" }, { name: "l/x" }]);
  const allowed = server("k", [{ name: "k/*", before: "allowed" }, { name: "k/x", before: "allowed" }]);
  const all = [failed, left, allowed];
  assert.deepEqual(chosenOf(all, ticksOf(all)), []);
  assert.equal(everyState(allowed, ticksOf(all)), "on");
});

test("a list that comes later keeps what the person has said", () => {
  const awaited = server("a", [{ name: "a/*" }], { list: "awaited" });
  const ticks = ticksOf([awaited]);
  assert.deepEqual(chosenOf([awaited], ticks), ["a/*"]);
  assert.deepEqual(chosenOf([whole], ticksOf([whole], ticks)), ["a/*"]);
  assert.deepEqual(chosenOf([whole], ticksOf([whole], turned([awaited], ticks, "a/*"))), []);
  assert.deepEqual(chosenOf([whole], ticksOf([whole], turned([whole], ticksOf([whole]), "a/one"))), ["a/two"]);
});

test("one sentence says what it is about", () => {
  const said = (asked: Parameters<typeof wishWords>[0]) => {
    const { words, names, rest } = wishWords(asked);
    return words + names.join(", ") + rest;
  };
  const scopes = ["mcp:tools.call" as const];
  const named = server("w", [{ name: "w/forecast" }, { name: "w/map" }]);
  assert.equal(said({ scopes, named: true, servers: [named] }), "wants to run 2 tools: forecast, map");
  assert.equal(said({ scopes, named: false, servers: [whole] }), "wants to run all tools of a server: a");
  assert.equal(said({ scopes, named: false, servers: Array.from("abcdef", (id) => server(id, [])) }), "wants to run all tools of 6 servers: a, b, c, d and 2 more");
  assert.equal(said({ scopes: ["mcp:tools.list"], named: true, servers: [named] }), "wants to see which tools you have");
});

test("buttons and edges say how long and how much", () => {
  assert.deepEqual([onceButton(600), onceButton(undefined)], ["Allow for 10 minutes", "Allow for a short time"]);
  assert.equal(onceWords(1), "1 second: in this tab only. Always: until you revoke it.");
  assert.deepEqual([belowWords(1), belowWords(0)], ["1 more to choose below", "More below"]);
  assert.equal(everyWords({ ...whole, unlisted: 3 }), "all 5 tools, and ones it adds later");
});
