// What a page could send if it got at the port: it reaches the background within bounds, or not at all.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Port } from "../shared/browser/api.ts";
import { answer } from "../shared/ports/answerer.ts";
import { carrier } from "./carrier.ts";

const settle = () => new Promise((resolve) => setImmediate(resolve));

/** The page's end of a channel, and what went on. */
function channel() {
  let heard: (message: unknown) => void = () => undefined;
  const answers: any[] = [];
  const passed: [string, unknown][] = [];
  const port: Port = {
    name: "test",
    sender: {},
    post: (message) => void answers.push(message),
    onMessage: (listener) => void (heard = listener),
    onDisconnect: () => undefined,
    disconnect: () => undefined,
  };
  const background = {
    call: async (type: string, payload: { [name: string]: unknown }) => {
      passed.push([type, payload]);
      return "done";
    },
  };
  answer(port, carrier(background, () => 7, async (type) => [type]), { open: 64 });
  answers.splice(0);
  return { send: (message: unknown) => heard(message), answers, passed };
}

test("what has no bound, or is nothing that a page asks for, is refused before it goes anywhere", async () => {
  const { send, answers, passed } = channel();
  const forged: [string, unknown][] = [
    ["call", { tool: "everything/echo", args: JSON.stringify({ message: "x".repeat(5e6) }) }],
    ["call", { tool: { toString: 1 }, args: ["{}"] }],
    ["browser", { act: "select", selector: "a", values: [["b"]] }],
    ["browser", { act: "select", selector: "a", values: Array(1e9) }],
    ["run", { task: "x".repeat(500_000), systemPrompt: "x".repeat(500_000) }],
    ["session_create", { llm: new ArrayBuffer(8) }],
    ["request_permissions", { scopes: Array(1e5).fill("mcp:tools.call") }],
    ["prompt", { body: { messages: [] } }],
    ["prompt", { body: "x".repeat(1e6) }],
    ...["cancel", "host_grant_permission", "__proto__", "constructor"].map((type): [string, unknown] => [type, {}]),
  ];
  for (const [id, [type, payload]] of forged.entries()) send({ id, type, payload });
  await settle();
  assert.deepEqual(answers.map(({ id, error }) => [id, error?.code]), forged.map((_, id) => [id, "ERR_INVALID_REQUEST"]));
  assert.deepEqual(passed, []);
});

test("an origin, a tab or a gesture of the page's own does not go on", async () => {
  const { send, passed } = channel();
  send({ id: 1, type: "permissions", payload: { origin: "https://bank.example", tab: 1, gesture: 9, junk: "x".repeat(1e6) } });
  send({ id: 2, type: "call", payload: { tool: "a/b", args: "{}", origin: "https://bank.example", gesture: 9 } });
  send({ id: 3, type: "prompt", payload: { body: "{}", stream: 1, origin: "https://bank.example" } });
  await settle();
  assert.deepEqual(passed, [
    ["permissions", { gesture: 7 }],
    ["call", { tool: "a/b", args: "{}", gesture: 7 }],
    ["prompt", { body: "{}", stream: 1, gesture: 7 }],
  ]);
});

test("one answer for an id, and none for what is no id or no request", async () => {
  const { send, answers } = channel();
  for (const id of [2000, 2000, null, "2001", { valueOf: 2001 }, [2001], true, -1, 1.5]) send({ id, type: "permissions" });
  for (const message of [null, "x", [], { cancel: Number.NaN }, { cancel: 5 }, { more: 5, n: 3 }, { more: 2000, n: 1e9 }]) send(message);
  for (const type of [7, undefined, {}, "x".repeat(65)]) send({ id: 2002, type });
  await settle();
  assert.deepEqual(answers, [{ id: 2000, result: "done" }]);
});
