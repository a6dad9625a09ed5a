// Prompts of servers: what is read of their lists, and what is sent of what was typed.

import assert from "node:assert/strict";
import { test } from "node:test";
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
