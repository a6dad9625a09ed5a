// Tests of what a session has typed by its names.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Typed } from "./typed.ts";

test("what was typed by a name is in no piece of a text, of its session, until that is over", () => {
  const typed = new Typed();
  typed.note("s", { text: { secret: "A", site: "https://a.example", value: "correct $& horse" } });
  typed.note("s", { fields: [{ value: "plain text" }, { value: { secret: "B", value: "a_b*c<d>e" } }, { value: { secret: "C", value: "short" } }] });
  const text = "it is correct $& horse, a\\_b\\*c<d>e, a_b*c&lt;d&gt;e, plain text, short";
  assert.equal(typed.without("s", text), "it is [A], [B], [B], plain text, short");
  assert.equal(typed.without("other", text), text);
  typed.forget("s");
  assert.equal(typed.without("s", text), text);
});
