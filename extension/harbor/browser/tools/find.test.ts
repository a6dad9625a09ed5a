// What is found in a page, and by which patterns.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Hand } from "../hand.ts";
import { NOT_READ } from "../page/rest.ts";
import { find } from "./find.ts";

/** Looks in a page of these lines. */
const look = (args: object, ...lines: string[]) =>
  find({ args, tab: { id: 1 }, snapshots: { take: async () => lines.map((text) => ({ depth: 0, text })) } } as unknown as Hand);

test("no pattern takes longer than the text", async () => {
  const line = `text "${"a".repeat(900)}b"`;
  assert.equal((await look({ regex: "(a+)+$" }, line)).said, "Nothing was found.");
  assert.match((await look({ regex: "/A{3}B/i" }, line)).said, /1 found/);
  await assert.rejects(look({ regex: "(?=a)" }, line), /neither lookaround nor backreferences/);
});

test("what was not read is no page without the text", async () => {
  assert.match((await look({ text: "b19999" }, 'button "b1"', NOT_READ)).said, /^Nothing was found\. The page is too long to be looked at as a whole/);
});
