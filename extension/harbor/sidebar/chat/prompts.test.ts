// Prompts of servers and of Harbor: what is read of their lists, and what is sent of what was typed.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Hands } from "../hands.ts";
import { actionsOf, forgetPrompts } from "./actions.ts";
import type { Composer } from "./composer.ts";
import { argumentsOf, promptsOf, textOf } from "./prompts.ts";

test("of a server's list that is read which can be, whatever else stands there", () => {
  const list = [
    { name: "plain" },
    { name: "asks", description: "Asks.", arguments: [{ name: "city", description: "Where", required: true }, { name: "state" }, { name: "" }, "none", { required: true }] },
    { name: "two words" },
    null,
  ];
  assert.deepEqual(promptsOf("s", list), [
    { server: "s", name: "plain", words: "A prompt of s", takes: [] },
    { server: "s", name: "asks", words: "Asks.", takes: [{ name: "city", about: "Where", needed: true }, { name: "state", about: undefined, needed: false }] },
  ]);
  assert.deepEqual([promptsOf("s", "none"), promptsOf("s", undefined)], [[], []]);
});

test("what is needed and empty is missing, and what is empty is not sent", () => {
  const [prompt] = promptsOf("s", [{ name: "asks", arguments: [{ name: "city", required: true }, { name: "__proto__" }, { name: "state" }] }]);
  assert.ok(prompt);
  assert.deepEqual(argumentsOf(prompt, [" ", "", "x"]).missing, ["city"]);
  const { args, missing } = argumentsOf(prompt, ["Bergen", "y", ""]);
  assert.deepEqual([missing, JSON.stringify(args)], [[], '{"city":"Bergen","__proto__":"y"}']);
});

test("a prompt is the texts of its messages", () => {
  assert.equal(textOf({ messages: [{ content: { type: "text", text: "one" } }, { content: { type: "image" } }, 3, { content: { type: "text", text: "two" } }] }), "one\n\ntwo");
  assert.deepEqual([textOf(undefined), textOf({ messages: "no" })], ["", ""]);
});

test("Harbor's own prompts are there without a server, by their names alone", async () => {
  const asked: string[] = [];
  const ask = (_: string, { server_id }: { server_id: string }) => {
    asked.push(server_id);
    return Promise.resolve({ prompts: [{ name: "search" }] });
  };
  const servers = [{ server_id: "s", state: "running" }, { server_id: "t", state: "stopped" }];
  const hands = { state: { servers }, ask, change: () => undefined } as unknown as Hands;
  const names = () => actionsOf(hands, {} as Composer).map(({ name }) => name);
  forgetPrompts();
  assert.deepEqual(names(), ["new", "history", "models", "tools"]);
  await new Promise(setImmediate);
  assert.deepEqual([names().slice(4), asked], [["search", "s.search"], ["harbor", "s"]]);
  forgetPrompts();
});
