// Questions with windows that the test plays.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Asking, ELSEWHERE, type Matter } from "./asking.ts";
import { consentHandler } from "./consent/handler.ts";
import type { Decision } from "./grants.ts";
import type { QuestionView } from "./own.ts";

let clicks = 0;
/** Each time with a click of its own. */
const WHO = {
  origin: "https://a.example",
  document: "D",
  get gesture() {
    return ++clicks;
  },
};
const VIEW = { origin: WHO.origin, scopes: [], servers: [{ id: "a", label: "A", state: "running", tools: [{ name: "a/b" }] }], named: false };
/** A question, and what was answered. */
function matter(prepare: Matter["prepare"] = async () => VIEW) {
  const decided: Decision[] = [];
  return { prepare, decided, record: async (decision: Decision) => void decided.push(decision) };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

function played(kept = new Map<string, unknown>()) {
  const windows: string[] = [];
  const told: QuestionView[] = [];
  const store = { get: async (key: string) => kept.get(key), set: async (key: string, value: unknown) => void kept.set(key, value) };
  let last = 100;
  const asking = new Asking({
    now: () => 0,
    store,
    open: async (id) => (windows.push(`open ${id}`), ++last),
    close: async (windowId) => void windows.push(`close ${windowId}`),
  });
  const open = () => {
    const handler = consentHandler(asking, (view) => told.push(view), async (approvalId) => ({ all: approvalId }));
    return (type: string, payload: { [name: string]: unknown }) =>
      handler(type, payload, { signal: new AbortController().signal, progress: () => undefined, chunk: () => undefined, onMore: () => undefined });
  };
  return { asking, windows, told, open, page: open() };
}

test("the person answers, the window closes", async () => {
  const { asking, windows, page } = played();
  const about = matter();
  const asked = asking.ask(WHO, about, new AbortController().signal);
  await settle();
  assert.deepEqual(await page("question", { id: 1 }), { id: 1, ...VIEW });
  await page("answer", { id: 1, decision: { allow: "once", tools: ["a/b"] } });
  await asked;
  assert.deepEqual(about.decided, [{ allow: "once", tools: ["a/b"] }]);
  assert.deepEqual(windows, ["open 1", "close 101"]);
  await assert.rejects(page("answer", { id: 1, decision: { allow: "once", tools: [] } }), { code: "ERR_INVALID_REQUEST" });
});

test("a window that is closed is a denial that nobody remembers", async () => {
  const { asking } = played();
  const about = matter();
  const asked = asking.ask(WHO, about, new AbortController().signal);
  await settle();
  asking.windowClosed(7);
  asking.windowClosed(101);
  await asked;
  assert.deepEqual(about.decided, [{ allow: "no", remember: false, dismissed: true }]);
});

test("a document that is gone takes its question with it, also while the window opens", async () => {
  const { asking, windows } = played();
  const controller = new AbortController();
  const asked = asking.ask(WHO, matter(), controller.signal);
  controller.abort(new Error("gone"));
  await assert.rejects(asked, /gone/);
  const later = new AbortController();
  const next = asking.ask(WHO, matter(), later.signal);
  await settle();
  later.abort(new Error("gone, too"));
  await assert.rejects(next, /gone, too/);
  assert.deepEqual(windows, ["open 2", "close 101"]);
});

test("what is settled meanwhile opens no window; what fails is told", async () => {
  const { asking, windows } = played();
  const { signal } = new AbortController();
  const settled = matter(async () => "settled");
  await asking.ask(WHO, settled, signal);
  await assert.rejects(asking.ask(WHO, matter(() => Promise.reject(new Error("no bridge"))), signal), /no bridge/);
  assert.deepEqual(settled.decided, []);
  assert.deepEqual(windows, []);
});

test("what is no decision decides nothing", async () => {
  const { asking, page } = played();
  void asking.ask(WHO, matter(), new AbortController().signal).catch(() => undefined);
  await settle();
  await page("question", { id: 1 });
  for (const decision of [undefined, {}, { allow: "yes" }, { allow: "once" }, { allow: "always", tools: [1] }]) {
    await assert.rejects(page("answer", { id: 1, decision }), { code: "ERR_INVALID_REQUEST" });
  }
  assert.ok(asking.view(1));
});

test("a page answers the question that it was shown, for what was in it", async () => {
  const { asking, page, open } = played();
  const about = matter();
  const asked = asking.ask(WHO, about, new AbortController().signal);
  await settle();
  await page("question", { id: 1 });
  const decision = { allow: "once", tools: ["a/b"] };
  // As a window of an earlier background, whose question had the same number.
  await assert.rejects(open()("answer", { id: 1, decision }), { code: "ERR_INVALID_REQUEST" });
  for (const tools of [["a/c"], ["a/b", "c/*"], ["a/*"]]) {
    await assert.rejects(page("answer", { id: 1, decision: { allow: "always", tools } }), { code: "ERR_INVALID_REQUEST" });
  }
  await page("answer", { id: 1, decision });
  await asked;
  assert.deepEqual(about.decided, [decision]);
});

test("what is known later is told to the page, and an answer is held to it", async () => {
  const { asking, told, page } = played();
  let changed: Parameters<Matter["prepare"]>[0] = () => undefined;
  const about = matter(async (later) => ((changed = later), VIEW));
  const asked = asking.ask(WHO, about, new AbortController().signal);
  await settle();
  await page("question", { id: 1 });
  const view = { ...VIEW, servers: [{ id: "a", label: "A", state: "running", tools: [{ name: "a/c" }] }] };
  changed(view);
  assert.deepEqual(told, [{ id: 1, ...view }]);
  await assert.rejects(page("answer", { id: 1, decision: { allow: "once", tools: ["a/b"] } }), { code: "ERR_INVALID_REQUEST" });
  assert.deepEqual(await page("question", { id: 1 }), { id: 1, ...view });
  await page("answer", { id: 1, decision: { allow: "once", tools: ["a/c"] } });
  await asked;
});

test("what a page takes back outlives the background, too", async () => {
  const kept = new Map<string, unknown>();
  const { asking } = played(kept);
  const controller = new AbortController();
  const asked = asking.ask(WHO, matter(), controller.signal);
  await settle();
  controller.abort(new Error("gone"));
  await assert.rejects(asked, /gone/);
  await settle();
  const after = played(new Map(JSON.parse(JSON.stringify([...kept]))));
  await assert.rejects(after.asking.ask(WHO, matter(), new AbortController().signal), { code: "ERR_PERMISSION_DENIED" });
});

test("a run whose questions are taken back or denied opens no more windows, whatever background it is", async () => {
  const kept = new Map<string, unknown>();
  const { asking, windows } = played(kept);
  const confirm = async (of: Asking, end: (controller: AbortController) => void) => {
    const controller = new AbortController();
    const asked = of.confirm(VIEW, controller.signal).catch((error) => error.message);
    await settle();
    end(controller);
    return asked;
  };
  const takeBack = (controller: AbortController) => controller.abort(new Error("gone"));
  assert.equal(await confirm(asking, takeBack), "gone");
  assert.deepEqual(await confirm(asking, () => asking.windowClosed(102)), { allow: "no", remember: false, dismissed: true });
  assert.equal(await confirm(asking, takeBack), "gone");
  const opened = windows.length;
  assert.equal(await confirm(asking, () => undefined), "refused");
  const after = played(new Map(JSON.parse(JSON.stringify([...kept]))));
  assert.equal(await confirm(after.asking, () => undefined), "refused");
  assert.deepEqual([opened, windows.length, after.windows.length], [6, 6, 0]);
});

const CALL: Omit<QuestionView, "id"> = { origin: WHO.origin, scopes: [], servers: [], named: false, call: { id: "q", who: "page", answers: ["once", "no"] } as never };

test("the arguments of a call are shown whole to the page that shows its question, and to no other", async () => {
  const { asking, page, open } = played();
  void asking.confirm(CALL, new AbortController().signal);
  await settle();
  await assert.rejects(page("whole", { id: 1 }), { code: "ERR_INVALID_REQUEST" });
  await page("question", { id: 1 });
  assert.deepEqual(await page("whole", { id: 1 }), { arguments: { all: "q" } });
  await assert.rejects(open()("whole", { id: 1 }), { code: "ERR_INVALID_REQUEST" });
  void asking.ask(WHO, matter(), new AbortController().signal);
  await settle();
  await page("question", { id: 2 });
  await assert.rejects(page("whole", { id: 2 }), { code: "ERR_INVALID_REQUEST" });
});

test("what was answered elsewhere, or lost with the connection, is not counted as taken back", async () => {
  const { asking, windows } = played();
  for (let time = 0; time < 5; time += 1) {
    const controller = new AbortController();
    const asked = asking.confirm(CALL, controller.signal);
    await settle();
    controller.abort(ELSEWHERE);
    await assert.rejects(asked, ELSEWHERE);
  }
  assert.equal(windows.filter((one) => one.startsWith("open")).length, 5);
});

test("a denial outlives the background", async () => {
  const kept = new Map<string, unknown>();
  const before = played(kept);
  const denied = before.asking.ask(WHO, matter(), new AbortController().signal);
  await settle();
  before.asking.windowClosed(101);
  await denied;
  const after = played(new Map(JSON.parse(JSON.stringify([...kept]))));
  const again = after.asking.ask(WHO, matter(), new AbortController().signal);
  await assert.rejects(again, { code: "ERR_PERMISSION_DENIED" });
});

test("the next question comes when the answer to the one before is kept, and what fails there is told", async () => {
  const { asking, windows, page } = played();
  const { signal } = new AbortController();
  let kept: (() => void) | undefined;
  const first = { ...matter(), record: () => new Promise<void>((resolve) => (kept = resolve)) };
  const asked = asking.ask(WHO, first, signal);
  const next = asking.ask(WHO, matter(async () => (kept === undefined ? VIEW : "settled")), signal);
  const failing = asking.ask({ ...WHO, origin: "https://b.example" }, { ...matter(), record: () => Promise.reject(new Error("lost")) }, signal);
  await settle();
  await page("question", { id: 1 });
  await page("answer", { id: 1, decision: { allow: "once", tools: [] } });
  await settle();
  kept?.();
  await Promise.all([asked, next]);
  assert.deepEqual(windows, ["open 1", "open 3", "close 101"]);
  await page("question", { id: 3 });
  await page("answer", { id: 3, decision: { allow: "once", tools: [] } });
  await assert.rejects(failing, /lost/);
});
