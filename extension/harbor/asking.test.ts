// Questions with windows that the test plays.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Asking } from "./asking.ts";
import { consentHandler } from "./consent/handler.ts";

const WHO = { origin: "https://a.example", document: "D", gesture: true };
const VIEW = { origin: WHO.origin, scopes: [], servers: [], named: false };
const settle = () => new Promise((resolve) => setImmediate(resolve));

function played() {
  const windows: string[] = [];
  let last = 100;
  const asking = new Asking({
    now: () => 0,
    open: async (id) => (windows.push(`open ${id}`), ++last),
    close: async (windowId) => void windows.push(`close ${windowId}`),
  });
  const handler = consentHandler(asking);
  const page = (type: string, payload: { [name: string]: unknown }) =>
    handler(type, payload, { signal: new AbortController().signal, progress: () => undefined });
  return { asking, windows, page };
}

test("the person answers, the window closes", async () => {
  const { asking, windows, page } = played();
  const asked = asking.ask(WHO, async () => VIEW, new AbortController().signal);
  await settle();
  assert.deepEqual(await page("question", { id: 1 }), { id: 1, ...VIEW });
  await page("answer", { id: 1, decision: { allow: "once", tools: ["a/b"] } });
  assert.deepEqual(await asked, { is: "decided", decision: { allow: "once", tools: ["a/b"] } });
  assert.deepEqual(windows, ["open 1", "close 101"]);
  await assert.rejects(page("answer", { id: 1, decision: { allow: "once", tools: [] } }), { code: "ERR_INVALID_REQUEST" });
});

test("a window that is closed is a denial that nobody remembers", async () => {
  const { asking } = played();
  const asked = asking.ask(WHO, async () => VIEW, new AbortController().signal);
  await settle();
  asking.windowClosed(7);
  asking.windowClosed(101);
  assert.deepEqual(await asked, { is: "decided", decision: { allow: "no", remember: false } });
});

test("a document that is gone takes its question with it, also while the window opens", async () => {
  const { asking, windows } = played();
  const controller = new AbortController();
  const asked = asking.ask(WHO, async () => VIEW, controller.signal);
  controller.abort(new Error("gone"));
  await assert.rejects(asked, /gone/);
  const later = new AbortController();
  const next = asking.ask(WHO, async () => VIEW, later.signal);
  await settle();
  later.abort(new Error("gone, too"));
  await assert.rejects(next, /gone, too/);
  assert.deepEqual(windows, ["open 2", "close 101"]);
});

test("what is settled meanwhile opens no window; what fails is told", async () => {
  const { asking, windows } = played();
  const { signal } = new AbortController();
  assert.deepEqual(await asking.ask(WHO, async () => "settled", signal), { is: "settled" });
  await assert.rejects(asking.ask(WHO, () => Promise.reject(new Error("no bridge")), signal), /no bridge/);
  assert.deepEqual(windows, []);
});

test("what is no decision decides nothing", async () => {
  const { asking, page } = played();
  void asking.ask(WHO, async () => VIEW, new AbortController().signal).catch(() => undefined);
  await settle();
  for (const decision of [undefined, {}, { allow: "yes" }, { allow: "once" }, { allow: "always", tools: [1] }]) {
    await assert.rejects(page("answer", { id: 1, decision }), { code: "ERR_INVALID_REQUEST" });
  }
  assert.ok(asking.view(1));
});
