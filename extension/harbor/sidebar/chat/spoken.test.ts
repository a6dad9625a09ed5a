// What a screen reader hears of an answer.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Told, sentences } from "./spoken.ts";

test("an answer is told in sentences, each once, and its rest at the end", () => {
  const text = "It is 19:02 in Tokyo. Kenji sleeps! Call him\nat nine";
  const said: string[] = [];
  let told: Told = { of: "", letters: 0 };
  for (let letters = 1; letters <= text.length; letters += 1) {
    const next = sentences(told, "1", text.slice(0, letters), letters === text.length);
    if (next.say !== "") said.push(next.say);
    told = next.told;
  }
  assert.deepEqual(said, ["It is 19:02 in Tokyo.", "Kenji sleeps!", "Call him", "at nine"]);
  assert.equal(sentences(told, "2", "Another. one", false).say, "Another.");
});
