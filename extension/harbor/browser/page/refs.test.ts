// What a ref was told to be, and what its element is.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Told, isAsTold } from "./refs.ts";

const told = (more: Partial<Told> = {}): Told => ({ role: "button", name: "Keep Ann", text: "", href: "", ...more });

test("an element is as told while role, name, text and address are the same", () => {
  assert.ok(isAsTold(told(), told(), false));
  for (const other of [{ name: "Delete Bob" }, { role: "link" }, { text: "Bob" }, { href: "https://b.example/" }, { name: "Keep Ann (2)" }]) assert.ok(!isAsTold(told(), told(other), false), JSON.stringify(other));
});

test("what has lost its name is still as told", () => assert.ok(isAsTold(told(), told({ name: "" }), false)));

test("a field's label may get longer or shorter", () => {
  const field = (name: string) => told({ role: "textbox", name });
  assert.ok(isAsTold(field("Email"), field("Email is not valid"), true));
  assert.ok(isAsTold(field("Email is not valid"), field("Email"), true));
  assert.ok(!isAsTold(field("Ann's email"), field("Bob's email"), true));
  assert.ok(!isAsTold(field(""), field("Email"), true));
});
