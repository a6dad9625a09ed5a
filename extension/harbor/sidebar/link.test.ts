// The sidebar's port: opened again where there was a bridge, and not for ever.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Port } from "../../shared/browser/api.ts";
import { link } from "./link.ts";

const settle = () => new Promise((resolve) => setTimeout(resolve));

/** A background that is there or not, as the browser shows it; each port that was opened, and the limits that are waited for. */
function browser() {
  const ports: { say(message: unknown): void; end(): void }[] = [];
  const limits = new Set<() => void>();
  const connect = (): Port => {
    const listeners: ((message: unknown) => void)[] = [];
    const ends: (() => void)[] = [];
    ports.push({ say: (message) => listeners.forEach((one) => one(message)), end: () => ends.forEach((one) => one()) });
    return {
      name: "test",
      sender: {},
      post: () => undefined,
      onMessage: (listener) => void listeners.push(listener),
      onDisconnect: (listener) => void ends.push(() => listener("")),
      disconnect: () => undefined,
    };
  };
  const after = (_ms: number, call: () => void) => (limits.add(call), () => void limits.delete(call));
  const due = async () => (limits.forEach((call) => call()), await settle());
  return { ports, connect, after, due, limits };
}

test("a background that ends with what is said to it is looked for again, three times", async () => {
  const { ports, connect, after, due, limits } = browser();
  const states: unknown[] = [];
  const caller = link((_type, payload) => states.push(payload["state"]), connect, after);
  caller.open();
  ports[0]?.say({ push: "bridge", payload: { state: "ready" } });
  ports[0]?.end();
  await settle();
  // It says nothing: what was sent to it is lost.
  await due();
  assert.equal(ports.length, 3);
  ports[2]?.say({ push: "bridge", payload: { state: "ready" } });
  assert.deepEqual(states, ["ready", "connecting", "connecting", "ready"]);
  ports[2]?.end();
  for (let tries = 0; tries < 9; tries += 1) {
    await settle();
    await due();
  }
  assert.deepEqual([ports.length, limits.size, states.at(-1)], [6, 0, "idle"]);
});
