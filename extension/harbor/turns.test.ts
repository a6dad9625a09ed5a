// Whose turn it is: so many of an origin at a time, in their order, and nobody for ever.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Turns } from "./turns.ts";

const settle = () => new Promise((resolve) => setImmediate(resolve));
const signal = new AbortController().signal;

test("so many are under way, the others follow in their order, and other origins are not held up", async () => {
  const turns = new Turns(2);
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const take = (origin: string, name: string, aborted = signal) =>
    turns.take(origin, aborted, () => (begun.push(name), new Promise<void>((resolve) => ends.push(resolve))));
  const all = ["a1", "a2", "a3", "a4"].map((name) => take("a", name));
  void take("b", "b1");
  const leaving = new AbortController();
  const left = take("a", "a5", leaving.signal).catch((error) => error.message);
  const last = take("a", "a6");
  await settle();
  assert.deepEqual(begun, ["a1", "a2", "b1"]);
  leaving.abort(new Error("left"));
  assert.equal(await left, "left");
  ends[0]?.();
  ends[1]?.();
  await settle();
  assert.deepEqual(begun.slice(3), ["a3", "a4"]);
  ends[3]?.();
  await settle();
  assert.deepEqual(begun.slice(5), ["a6"]);
  for (const end of ends) end();
  await Promise.all([...all, last]);
  await turns.take("a", signal, async () => undefined);
});

test("a turn that fails is over, and one that is aborted does no work", async () => {
  const turns = new Turns(1);
  await assert.rejects(turns.take("a", signal, () => Promise.reject(new Error("no"))), /no/);
  let worked = false;
  const aborted = AbortSignal.abort(new Error("mine"));
  await assert.rejects(turns.take("a", aborted, async () => void (worked = true)), /mine/);
  assert.equal(worked, false);
  await turns.take("a", signal, async () => undefined);
});
