// A stream that a page reads, and one that it leaves unread.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { After } from "../shared/ports/caller.ts";
import { FIRST_CREDIT } from "../shared/ports/wire.ts";
import { UNREAD_MS, streamed } from "./streaming.ts";

const settle = () => new Promise((resolve) => setImmediate(resolve));

/** A request that streams, with the bridge and the page played. */
function begun() {
  const waits: number[] = [];
  let due: (() => void) | undefined;
  const after: After = (ms, call) => {
    waits.push(ms);
    due = call;
    return () => void (due = undefined);
  };
  let options: any;
  let fields: any;
  const bridge = {
    request: (_type: string, given: unknown, more: unknown) => {
      [fields, options] = [given, more];
      return new Promise((_, reject) => options.signal.addEventListener("abort", () => reject(options.signal.reason)));
    },
  };
  const chunks: unknown[] = [];
  const given: number[] = [];
  let more: (n: number) => void = () => undefined;
  const context = { signal: new AbortController().signal, chunk: (one: unknown) => void chunks.push(one), onMore: (listener: typeof more) => void (more = listener) };
  const ended = streamed(bridge as never, "host_llm_chat", { messages: [] }, context, after).catch((error) => error.code);
  options.begun((n: number) => given.push(n));
  const say = (times: number) => {
    for (let time = 0; time < times; time += 1) options.onEvent(time);
  };
  return { say, ended, chunks, given, waits, fields, more: (n: number) => more(n), due: () => due?.(), isWaiting: () => due !== undefined };
}

test("credit goes through, and whoever reads is not hurried", async () => {
  const stream = begun();
  assert.deepEqual([stream.fields.stream, stream.fields.credit], [true, true]);
  stream.say(FIRST_CREDIT - 1);
  assert.deepEqual([stream.chunks.length, stream.waits], [FIRST_CREDIT - 1, []]);
  stream.say(1);
  assert.deepEqual([stream.waits, stream.isWaiting()], [[UNREAD_MS], true]);
  stream.more(32);
  assert.deepEqual([stream.given, stream.isWaiting()], [[32], false]);
});

test("a stream that nobody reads for a minute ends", async () => {
  const stream = begun();
  stream.say(FIRST_CREDIT);
  stream.due();
  await settle();
  assert.equal(await stream.ended, "ERR_CANCELLED");
});
