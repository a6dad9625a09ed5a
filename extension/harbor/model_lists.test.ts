// What is remembered of a provider's models, and for how long.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ModelLists } from "./model_lists.ts";

/** A bridge with these providers; how often it was asked for models. */
function bridge() {
  const played = { asked: 0, fails: false, providers: [{ id: "p", base_url: "http://a", available: true }, { id: "q", base_url: "http://b", available: true }] };
  const request = async (type: string, { provider_id }: { provider_id?: string }) => {
    if (type === "llm_list_providers") return { providers: played.providers };
    played.asked += 1;
    if (played.fails) throw new Error("no");
    return { models: [{ model: `of ${provider_id}` }] };
  };
  return { played, bridge: { request } as never };
}

test("a provider is asked once in ten seconds, and anew where it has become another", async () => {
  let now = 0;
  const lists = new ModelLists(() => now);
  const { played, bridge: asked } = bridge();
  const of = async (id = "p") => [(await lists.of(asked, id)).map(({ model }) => model), played.asked];
  assert.deepEqual(await Promise.all([of(), of()]).then(([, last]) => last), [["of p"], 1]);
  now = 9_999;
  played.providers = [{ ...played.providers[0]!, available: false }, played.providers[1]!];
  assert.deepEqual(await of(), [["of p"], 1]);
  now = 10_000;
  assert.deepEqual(await of(), [["of p"], 2]);
  played.providers = [{ ...played.providers[0]!, base_url: "http://c" }, played.providers[1]!];
  assert.deepEqual(await of(), [["of p"], 3]);
  assert.deepEqual(await of("q"), [["of q"], 4]);
});

test("that it said nothing is not remembered", async () => {
  const lists = new ModelLists(() => 0);
  const { played, bridge: asked } = bridge();
  played.fails = true;
  assert.deepEqual(await lists.of(asked, "p"), []);
  played.fails = false;
  assert.deepEqual([(await lists.of(asked, "p")).length, played.asked], [1, 2]);
});
