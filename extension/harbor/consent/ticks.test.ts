// Boxes of a question, and its sentences.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { AskedServer } from "../own.ts";
import { chosenOf, everyState, ticksOf, turned } from "./ticks.ts";
import { belowWords, callerWords, countWords, cutWords, everyWords, isCut, meansWords, onceButton, onceWords, wishWords } from "./words.ts";

const changed = { changed: { parts: [], blocked: true } };
const server = (id: string, tools: AskedServer["tools"], more: Partial<AskedServer> = {}): AskedServer => ({ id, label: id, state: "running", tools, ...more });
const reads = { effect: "reads" as const };
const whole = server("a", [{ name: "a/*" }, { name: "a/one", ...reads }, { name: "a/two", ...reads }]);

test("only what is known to read is ticked in advance, and all of a server only where all of it does", () => {
  const mixed = server("a", [{ name: "a/*" }, { name: "a/read", ...reads }, { name: "a/write", effect: "writes" }, { name: "a/wipe", effect: "destroys" }, { name: "a/odd" }]);
  const ticks = ticksOf([mixed]);
  assert.deepEqual([everyState(mixed, ticks), chosenOf([mixed], ticks)], ["some", ["a/read"]]);
  // What the person presses is another thing.
  assert.deepEqual(chosenOf([mixed], turned([mixed], ticks, "a/*")), ["a/*"]);
  assert.equal(everyWords(mixed), "all 4 tools, and ones it adds later (1 changes something, 1 may delete)");
  const named = server("a", mixed.tools.slice(1));
  assert.deepEqual(chosenOf([named], ticksOf([named])), ["a/read"]);
});

test("tools that are not listed are not known to read: only the person ticks the box for all", () => {
  const large = { ...whole, unlisted: 3 };
  const ticks = ticksOf([large]);
  assert.deepEqual([everyState(large, ticks), chosenOf([large], ticks)], ["some", ["a/one", "a/two"]]);
  const all = turned([large], ticks, "a/*");
  assert.deepEqual([everyState(large, all), chosenOf([large], all)], ["on", ["a/*"]]);
  assert.deepEqual(chosenOf([large], turned([large], all, "a/*")), []);
  const allowed = { ...server("a", whole.tools.map((tool) => ({ ...tool, before: "allowed" as const }))), unlisted: 3 };
  assert.equal(everyState(allowed, ticksOf([allowed])), "on");
});

test("all tools of a server are chosen as one, until one is taken out", () => {
  const ticks = ticksOf([whole]);
  assert.deepEqual([everyState(whole, ticks), chosenOf([whole], ticks)], ["on", ["a/*"]]);
  const less = turned([whole], ticks, "a/two");
  assert.deepEqual([everyState(whole, less), chosenOf([whole], less)], ["some", ["a/one"]]);
  assert.deepEqual(chosenOf([whole], turned([whole], less, "a/*")), ["a/*"]);
  assert.deepEqual(chosenOf([whole], turned([whole], ticks, "a/*")), []);
});

test("what has changed is not ticked, and no box for all ticks or covers it", () => {
  const poisoned = server("a", [{ name: "a/*" }, { name: "a/one", ...reads }, { name: "a/two", ...reads, ...changed }]);
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
  const failed = server("f", [{ name: "f/*" }, { name: "f/x", ...reads }], { state: "failed" });
  const left = server("l", [{ name: "l/*", before: "left out" }, { name: "l/x", ...reads }]);
  const allowed = server("k", [{ name: "k/*", before: "allowed" }, { name: "k/x", before: "allowed" }]);
  const all = [failed, left, allowed];
  assert.deepEqual(chosenOf(all, ticksOf(all)), []);
  assert.equal(everyState(allowed, ticksOf(all)), "on");
});

test("a list that comes later keeps what the person has said", () => {
  const awaited = server("a", [{ name: "a/*" }], { list: "awaited" });
  const ticks = ticksOf([awaited]);
  assert.deepEqual(chosenOf([awaited], ticks), []);
  assert.deepEqual(chosenOf([whole], ticksOf([whole], ticks)), ["a/*"]);
  const [all, writing] = [turned([awaited], ticks, "a/*"), server("a", [...whole.tools, { name: "a/w", effect: "writes" }])];
  assert.deepEqual(chosenOf([awaited], all), ["a/*"]);
  assert.deepEqual(chosenOf([writing], ticksOf([writing], all)), ["a/*"]);
  assert.deepEqual(chosenOf([whole], ticksOf([whole], turned([awaited], all, "a/*"))), []);
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
  assert.equal(said({ scopes: ["model:tools", ...scopes], named: true, servers: [named] }), "wants your AI model to work for it, using 2 of your tools: forecast, map");
  assert.equal(said({ scopes: ["model:prompt", ...scopes], named: false, servers: [whole] }), "wants to use your language model, and to run all tools of a server: a");
  assert.equal(said({ scopes: ["mcp:tools.list"], named: true, servers: [named] }), "wants to see which tools you have");
  assert.equal(said({ scopes: [...scopes, "mcp:server.connect"], named: true, servers: [named] }), "wants to run 2 tools: forecast, map, and to start their servers");
  assert.equal(said({ scopes: ["mcp:server.connect"], named: false, servers: [] }), "wants to start your servers when it uses their tools");
});

test("allowing is said in two sentences, and promises no less than it gives", () => {
  const means = (...scopes: Parameters<typeof meansWords>[0]["scopes"]) => meansWords({ scopes });
  assert.equal(means("model:prompt", "model:tools", "mcp:tools.call"), "The site and your model may run the ticked tools with any data. The site sees what they say about themselves and what they answer.");
  assert.match(means("mcp:tools.list"), /^The site sees which of these tools you have/);
  assert.match(means("mcp:tools.call", "model:list"), /^The site may run the ticked tools.* names of your models/);
  assert.match(means("mcp:server.connect"), /^A server that does not run starts when the site calls a tool of it that it may use/);
  assert.match(means("model:prompt"), /^The site sends texts to this model/);
  assert.equal(countWords({ servers: 15, tools: 48, ticked: 20, of: 9 }), "Ticked: 20 of 48 tools, in 9 of 15 servers.");
});

test("buttons and edges say how long and how much", () => {
  assert.deepEqual([onceButton(600), onceButton(undefined)], ["Allow for 10 minutes", "Allow for a short time"]);
  assert.equal(onceWords(1), "1 second: in this tab only. Always: until you revoke it.");
  assert.deepEqual([belowWords(1), belowWords(0)], ["1 more to choose below", "More below"]);
  assert.equal(everyWords({ ...whole, unlisted: 3 }), "all 5 tools, and ones it adds later");
});

test("a question about a call says who acts, and what is not all there", () => {
  const call = (who: string, principal: string) => ({ who, principal, tool: "s/t" }) as NonNullable<Parameters<typeof wishWords>[0]["call"]>;
  const said = (who: string, principal: string) => {
    const { words, names, rest } = wishWords({ scopes: [], servers: [], named: false, call: call(who, principal) });
    return `${callerWords({ who, principal })} ${words}${names.join()}${rest}`;
  };
  assert.equal(said("page", "https://a.example"), "https://a.example wants to call s/t");
  assert.equal(said("run", "https://a.example"), "https://a.example has your language model work on a task. The model now wants to call s/t");
  assert.equal(said("client", "client://editor"), "editor (an AI app) wants to call s/t");
  assert.equal(said("chat", "owner"), "Your model wants to call s/t");
  const cut = (key: string, bytes?: number) => isCut({ key, text: "", ...(bytes === undefined ? {} : { bytes }) });
  assert.deepEqual([cut("a"), cut("a", 9), cut("…"), cut("long… (900 bytes)")], [false, true, true, true]);
  assert.equal(cutWords(12_345), "Only its beginning: it has 12,345 bytes in all.");
});
