// Pieces become the answer that they were, or nothing.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Chunks } from "./chunks.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64");
const pieces = (text: string, size: number) => {
  const bytes = Buffer.from(text);
  const count = Math.ceil(bytes.length / size);
  return Array.from({ length: count }, (_, seq) => ({
    request_id: "1",
    seq,
    last: seq === count - 1,
    data: bytes.subarray(seq * size, (seq + 1) * size).toString("base64"),
  }));
};

test("an answer is whole after its last piece, also where a letter was cut in two", () => {
  const message = { type: "ping_result", echo: "Bücher 🦉".repeat(50) };
  for (const size of [1, 3, 7, 100, 10_000]) {
    const chunks = new Chunks();
    const joined = pieces(JSON.stringify(message), size).map((piece) => chunks.add(piece));
    assert.deepEqual(joined.pop(), { is: "whole", message });
    assert.ok(joined.every((one) => one.is === "more"));
  }
});

test("two answers do not mix", () => {
  const chunks = new Chunks();
  chunks.add({ request_id: "a", seq: 0, last: false, data: base64('{"a"') });
  chunks.add({ request_id: "b", seq: 0, last: false, data: base64('{"b"') });
  assert.deepEqual(chunks.add({ request_id: "a", seq: 1, last: true, data: base64(":1}") }), { is: "whole", message: { a: 1 } });
  assert.deepEqual(chunks.add({ request_id: "b", seq: 1, last: true, data: base64(":2}") }), { is: "whole", message: { b: 2 } });
});

test("what has a gap, is no base64 or no JSON is broken, and what was kept of it is gone", () => {
  const wrong = [
    { seq: 1, last: false, data: "" },
    { seq: 0, last: true, data: "*" },
    { seq: 0, last: true, data: base64("{") },
    { seq: 0, last: true, data: Buffer.from([0xff]).toString("base64") },
  ];
  for (const piece of wrong) {
    const chunks = new Chunks();
    assert.equal(chunks.add({ request_id: "1", ...piece }).is, "broken");
    assert.equal(chunks.add({ request_id: "1", seq: 0, last: true, data: base64("1") }).is, "whole");
  }
});
