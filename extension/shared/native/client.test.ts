// The client against a bridge that the test plays, with a clock that the test moves.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Port } from "../browser/api.ts";
import { CodedError } from "../protocol/codes.ts";
import { MAX_FRAME, NativeClient } from "./client.ts";

/** The native host's end, and everything around the client. */
class Played {
  now = 0;
  readonly ports: { sent: any[]; say(message: unknown): void; close(reason: string): void; open: boolean }[] = [];
  readonly timers = new Map<number, { at: number; call(): void }>();
  #last = 0;

  readonly client = new NativeClient({
    connect: () => this.#connect(),
    now: () => this.now,
    after: (ms, call) => {
      const id = ++this.#last;
      this.timers.set(id, { at: this.now + ms, call });
      return () => void this.timers.delete(id);
    },
    browserSession: async () => "session",
  });

  get port() {
    const port = this.ports.at(-1);
    assert.ok(port);
    return port;
  }

  /** Lets all promises that are settled go on. */
  settle(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }

  async greet(): Promise<void> {
    await this.settle();
    this.port.say({ type: "hello_result", request_id: "hello", protocol: 1, bridge_version: "1", build: "b", pid: 1 });
    await this.settle();
  }

  pass(ms: number): void {
    this.now += ms;
    for (const [id, timer] of this.timers) {
      if (timer.at > this.now) continue;
      this.timers.delete(id);
      timer.call();
    }
  }

  #connect(): Port {
    let heard: (message: unknown) => void = () => undefined;
    let closed: (reason: string) => void = () => undefined;
    const end = {
      sent: [] as any[],
      open: true,
      say: (message: unknown) => heard(message),
      close: (reason: string) => ((end.open = false), closed(reason)),
    };
    this.ports.push(end);
    return {
      name: "",
      sender: {},
      post: (message) => void end.sent.push(message),
      onMessage: (listener) => void (heard = listener),
      onDisconnect: (listener) => void (closed = listener),
      disconnect: () => void (end.open = false),
    };
  }
}

const code = (expected: string) => (error: unknown) => error instanceof CodedError && error.code === expected;

test("a request waits for the greeting, and gets its own answer", async () => {
  const played = new Played();
  const [first, second] = [played.client.request("ping", { echo: "a" }), played.client.request("ping", { echo: "b" })];
  await played.greet();
  const [hello, one, two] = played.port.sent;
  assert.deepEqual(
    [hello.type, hello.protocol, hello.chunks, hello.max_frame, hello.browser_session],
    ["hello", 1, true, MAX_FRAME, "session"],
  );
  played.port.say({ type: "ping_result", request_id: two.request_id, echo: "b", timestamp: 2 });
  played.port.say({ type: "ping_result", request_id: one.request_id, echo: "a", timestamp: 1 });
  assert.deepEqual([(await first).echo, (await second).echo, played.ports.length], ["a", "b", 1]);
});

test("errors have the bridge's code, progress comes before the answer, pushes go to who listens", async () => {
  const played = new Played();
  const seen: unknown[] = [];
  played.client.onPush((type) => seen.push(type));
  const onProgress = ({ progress }: { progress: unknown }) => seen.push(progress);
  const call = played.client.request("host_call_tool", { tool_name: "a/b" }, { onProgress });
  await played.greet();
  const { request_id } = played.port.sent[1];
  played.port.say({ type: "progress", request_id, progress: 1 });
  played.port.say({ type: "server_event", server_id: "a", new_state: "crashed" });
  played.port.say({ type: "error", request_id, error: { code: "ERR_TOOL_TIMEOUT", message: "late" } });
  await assert.rejects(call, code("ERR_TOOL_TIMEOUT"));
  assert.deepEqual(seen, [1, "server_event"]);
});

test("a larger answer comes in pieces", async () => {
  const played = new Played();
  const asked = played.client.request("ping", {});
  await played.greet();
  const { request_id } = played.port.sent[1];
  const text = JSON.stringify({ type: "ping_result", request_id, echo: "x".repeat(100), timestamp: 1 });
  const half = Buffer.from(text).subarray(0, 60).toString("base64");
  const rest = Buffer.from(text).subarray(60).toString("base64");
  played.port.say({ type: "chunk", request_id, seq: 0, last: false, data: half });
  played.port.say({ type: "chunk", request_id, seq: 1, last: true, data: rest });
  assert.equal((await asked).echo?.length, 100);
});

test("an abort tells the bridge, and an answer that comes then is dropped", async () => {
  const played = new Played();
  const controller = new AbortController();
  const asked = played.client.request("ping", {}, { signal: controller.signal });
  await played.greet();
  controller.abort(new Error("enough"));
  await assert.rejects(asked, /enough/);
  const [, ping, cancel] = played.port.sent;
  assert.deepEqual([cancel.type, cancel.target], ["cancel", ping.request_id]);
  played.port.say({ type: "ping_result", request_id: ping.request_id });
  const waiting = new AbortController();
  const other = new Played().client.request("ping", {}, { signal: waiting.signal });
  waiting.abort(new Error("before it was connected"));
  await assert.rejects(other, /before it was connected/);
});

test("what was sent is lost with the port, what waits goes over the next one", async () => {
  const played = new Played();
  const stop = played.client.watch();
  await played.greet();
  const sent = played.client.request("ping", {});
  await played.settle();
  played.port.close("Native host has exited.");
  await assert.rejects(sent, code("ERR_BRIDGE_NOT_CONNECTED"));
  const waits = played.client.request("ping", { echo: "again" });
  played.pass(250);
  await played.greet();
  assert.equal(played.ports.length, 2);
  assert.equal(played.port.sent[1].echo, "again");
  played.port.say({ type: "ping_result", request_id: played.port.sent[1].request_id, echo: "again" });
  assert.equal((await waits).echo, "again");
  stop();
  played.port.close("");
  assert.deepEqual([played.client.state.is, played.timers.size], ["idle", 0]);
});

test("no native host, another version: said at once", async () => {
  const missing = new Played();
  const asked = missing.client.request("ping", {});
  missing.port.close("Specified native messaging host not found.");
  await assert.rejects(asked, /harbor host install/);
  const old = new Played();
  const refused = old.client.request("ping", {});
  await old.settle();
  old.port.say({ type: "error", request_id: "", error: { code: "version_mismatch", message: "update it" } });
  await assert.rejects(refused, code("ERR_VERSION_MISMATCH"));
  assert.equal(old.port.open, false);
});

test("a request over the limit is not sent", async () => {
  const played = new Played();
  const asked = played.client.request("ping", { echo: "ü".repeat(MAX_FRAME / 2) });
  const refused = assert.rejects(asked, code("ERR_INVALID_REQUEST"));
  await played.greet();
  await refused;
  assert.equal(played.port.sent.length, 1);
});

test("nonsense from the other end harms nothing", async () => {
  const played = new Played();
  const asked = played.client.request("ping", {});
  await played.greet();
  for (const message of [null, 7, "x", [], {}, { type: 1 }, { type: "error" }, { type: "chunk", request_id: "9", seq: 4 }]) {
    played.port.say(message);
  }
  played.port.say({ type: "ping_result", request_id: played.port.sent[1].request_id, echo: "still here" });
  assert.equal((await asked).echo, "still here");
});

test("what streams comes in order, takes credit, and fails where something is missing", async () => {
  const played = new Played();
  const seen: unknown[] = [];
  let more: (n: number) => void = () => undefined;
  const chat = { origin: "https://a.example", messages: [], stream: true };
  const asked = played.client.request("host_llm_chat", chat, { onEvent: (one) => seen.push(one), begun: (give) => (more = give) });
  await played.greet();
  const id = played.port.sent.at(-1).request_id;
  const event = (seq: number) => ({ type: "llm_event", request_id: id, seq, event: { type: "text", text: String(seq) } });
  played.port.say(event(0));
  more(32);
  const { type, target, n } = played.port.sent.at(-1);
  assert.deepEqual([type, target, n], ["llm_more", id, 32]);
  played.port.say({ type: "llm_more_result", request_id: played.port.sent.at(-1).request_id, accepted: true });
  played.port.say(event(1));
  played.port.say(event(3));
  await assert.rejects(asked, { code: "ERR_PROTOCOL_ERROR" });
  assert.deepEqual([seen.length, played.port.sent.at(-1).type], [2, "cancel"]);
});
