// The life of a page's source and its calls, with a bridge, a browser and a page that are made up.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Port } from "../../shared/browser/api.ts";
import { PageSources } from "./sources.ts";
import type { PageToolsView } from "./view.ts";
import type { Way } from "./way.ts";

const ORIGIN = "https://a.example";
const ADD = { name: "add", description: "Adds" };

/** A tab with a page, and a background that knows of it. The test turns the clock. */
function made(more: Partial<Way> = {}) {
  const page = { url: `${ORIGIN}/x`, title: "A shop", born: 1, tools: [ADD] as object[], isOn: false, may: true };
  const sent: { type: string; [field: string]: any }[] = [];
  const [told, timers, ran, cancelled]: [PageToolsView[], { ms: number; call: () => void }[], any[], string[]] = [[], [], [], []];
  let [state, push, watching, lists, heard] = [(): void => undefined, (_type: string, _fields: object): void => undefined, 0, 0, 0];
  const bridge = {
    state: { is: "ready" } as { is: string },
    watch: () => ((watching += 1), () => void (watching -= 1)),
    onState: (listener: () => void) => void (state = listener),
    onPush: (listener: typeof push) => void (push = listener),
    request: async (type: string, fields: object) => (sent.push({ type, ...fields }), type === "source_register" ? { source_id: "page:a.example" } : {}),
  };
  const way: Way = {
    fields: async () => [],
    list: async () => ((lists += 1), { origin: ORIGIN, born: page.born, tools: JSON.stringify(page.tools) }),
    call: async (_, order) => (ran.push(order), { is: "result", text: "3" }),
    cancel: async (_, key) => void cancelled.push(key),
    hear: async () => void (heard += 1),
    ...more,
  };
  const judging = {
    judge: async () => (page.may ? { origin: ORIGIN, title: page.title, isOn: page.isOn } : undefined),
    choose: async (_: string, isOn: boolean) => void (page.isOn = isOn),
    isOn: async () => page.isOn,
  };
  const tab = () => ({ id: 3, windowId: 1, url: page.url, title: page.title, active: true, status: "complete" });
  Object.assign(globalThis, { chrome: { tabs: { get: async () => tab(), query: async () => [tab()] } } });
  const after = (ms: number, call: () => void) => {
    const timer = { ms, call };
    timers.push(timer);
    return () => void (timers.includes(timer) && timers.splice(timers.indexOf(timer), 1));
  };
  const sources = new PageSources(bridge as never, way, judging, after, (view) => void told.push(view));
  const on = () => sources.change({ tab: 3, origin: ORIGIN, on: true });
  /** Lets everything happen that can. */
  const rest = async () => {
    for (let at = 0; at < 5; at += 1) await new Promise(setImmediate);
  };
  const call = async (fields: object = {}) => {
    push("source_call", { call_id: "c", source_id: "page:a.example", tool_name: "add", arguments: { a: 1 }, timeout_ms: 60_000, session: { tab_id: 3 }, ...fields });
    await rest();
  };
  /** The clock goes on to the next timers of that length. */
  const pass = async (ms: number) => {
    for (const timer of timers.filter((one) => one.ms === ms)) {
      timers.splice(timers.indexOf(timer), 1);
      timer.call();
    }
    await rest();
  };
  const results = () => sent.filter(({ type }) => type === "source_result").map(({ type: _, ...fields }) => fields);
  const turned = () => sent.filter(({ type }) => /register$/.test(type)).map(({ type }) => type.replace("source_", ""));
  return { page, sent, told, ran, cancelled, bridge, sources, on, rest, call, pass, results, turned, push: (type: string, fields: object) => push(type, fields), stateIs: (is: string) => ((bridge.state.is = is), state()), count: () => ({ watching, lists, heard }) };
}

/** The port of a document. */
function portOf(tab = 3): Port & { say(): void; end(): void; isClosed: boolean } {
  const [said, ended]: [(() => void)[], (() => void)[]] = [[], []];
  return {
    name: "page source", sender: { tab: { id: tab, incognito: false }, frameId: 0 }, isClosed: false,
    post: () => undefined,
    onMessage: (listener) => void said.push(() => listener("changed")),
    onDisconnect: (listener) => void ended.push(() => listener("")),
    disconnect() { this.isClosed = true; },
    say: () => said.forEach((call) => call()),
    end: () => ended.forEach((call) => call()),
  };
}

test("off at first, a page is offered when its site is switched on, and no longer when it is switched off", async () => {
  const { sources, on, sent, turned, rest, told, count, page } = made();
  assert.deepEqual(await sources.change({ tab: 3, look: true }), { tab: 3, tools: 1, on: false });
  assert.deepEqual([turned(), count().watching], [[], 0]);
  assert.deepEqual(await on(), { tab: 3, tools: 1, on: true, source: "page:a.example" });
  assert.deepEqual(sent.at(-1), { type: "source_register", kind: "page", name: "A shop", origin: ORIGIN, tab_id: 3, tools: [ADD] });
  assert.equal(count().watching, 1);
  await sources.change({ tab: 3, origin: ORIGIN, on: false });
  await rest();
  assert.deepEqual([turned(), told.at(-1), count().watching], [["register", "unregister"], { tab: 3, tools: 1, on: false }, 0]);
  // The tab went to another site before the click came.
  page.url = "https://b.example/";
  await on();
  assert.equal(page.isOn, false);
});

test("a list that stays is registered once, one that changes again, and an empty one withdraws the source", async () => {
  const { on, sources, page, turned, sent } = made();
  await on();
  await sources.change({ tab: 3, look: true });
  assert.deepEqual(turned(), ["register"]);
  page.tools = [ADD, { ...ADD, name: "sub" }];
  await sources.change({ tab: 3, look: true });
  assert.deepEqual([turned().length, sent.at(-1)?.["tools"].length], [2, 2]);
  page.tools = [];
  await sources.change({ tab: 3, look: true });
  assert.deepEqual(turned(), ["register", "register", "unregister"]);
});

test("however often a page says that its tools are others, it is listed once a second", async () => {
  const { on, sources, count, pass, rest } = made();
  await on();
  const port = portOf();
  sources.heard(port);
  const before = count().lists;
  for (let at = 0; at < 100; at += 1) port.say();
  await rest();
  assert.equal(count().lists, before + 1);
  for (let at = 0; at < 100; at += 1) port.say();
  await pass(1_000);
  assert.equal(count().lists, before + 2);
  await pass(1_000);
  assert.deepEqual(count(), { watching: 1, lists: before + 2, heard: 1 });
});

test("with its document a source ends, and the next document of the site is another", async () => {
  const { on, sources, page, turned, rest, count, call, results } = made();
  await on();
  const port = portOf();
  sources.heard(port);
  page.may = false;
  port.end();
  await rest();
  assert.deepEqual(turned(), ["register", "unregister"]);
  await call();
  assert.equal(results()[0]?.["error"].code, "gone");
  Object.assign(page, { may: true, born: 2 });
  await sources.updated(3);
  await rest();
  assert.deepEqual([turned(), count().heard], [["register", "unregister"], 1]);
});

test("the same site in a new document is offered anew, without a port of an old one", async () => {
  const { on, sources, page, turned, count, rest } = made();
  await on();
  page.born = 2;
  const port = portOf();
  sources.heard(port);
  await sources.change({ tab: 3, look: true });
  assert.deepEqual([turned(), port.isClosed, count().heard], [["register", "unregister", "register"], true, 2]);
  const [stranger, frame] = [portOf(9), portOf()];
  (frame.sender as { frameId: number }).frameId = 4;
  sources.heard(stranger);
  sources.heard(frame);
  assert.deepEqual([stranger.isClosed, frame.isClosed], [true, true]);
  await sources.closed(3);
  await rest();
  assert.deepEqual([turned().at(-1), count().watching], ["unregister", 0]);
});

test("a call runs in the document that was listed, and its result is answered", async () => {
  const { on, call, ran, results } = made();
  await on();
  await call();
  const { key, ...order } = ran[0];
  assert.match(key, /^[0-9a-f-]{36}$/);
  assert.deepEqual(order, { origin: ORIGIN, born: 1, name: "add", mark: JSON.stringify(ADD), input: '{"a":1}' });
  assert.deepEqual(results(), [{ call_id: "c", result: { content: [{ type: "text", text: "3" }] } }]);
});

test("what is not offered is not called: another tool, another source, a page that may not be used any more", async () => {
  const { on, call, ran, results, page, turned } = made();
  await on();
  await call({ tool_name: "pay" });
  await call({ source_id: "page:b.example" });
  await call({ source_id: "browser" });
  page.may = false;
  await call();
  assert.deepEqual([results().map(({ error }) => error.code), ran], [["changed", "gone", "gone"], []]);
  assert.equal(turned().at(-1), "unregister");
});

test("a cancel, the end of its time and the end of its document end a call, once, and the page hears of it", async () => {
  const { on, call, sources, push, pass, rest, results, cancelled } = made({ call: () => new Promise(() => undefined) });
  await on();
  await call();
  push("source_cancel", { call_id: "c" });
  await rest();
  await call({ call_id: "d", timeout_ms: 10_000 });
  await pass(9_000);
  const port = portOf();
  sources.heard(port);
  await call({ call_id: "e" });
  port.end();
  await rest();
  await on();
  await call({ call_id: "f" });
  await sources.change({ tab: 3, origin: ORIGIN, on: false });
  await rest();
  assert.deepEqual(results().map(({ call_id, error }) => [call_id, error.code]), [["c", "cancelled"], ["d", "timeout"], ["e", "gone"], ["f", "gone"]]);
  assert.equal(cancelled.length, 4);
});

test("a new connection gets the sources that were there, and a background that begins those of sites that are on", async () => {
  const { on, stateIs, pass, rest, turned, page, sources } = made();
  await on();
  stateIs("waiting");
  await rest();
  stateIs("ready");
  await rest();
  await pass(1_000);
  assert.deepEqual(turned(), ["register", "register"]);
  const begun = made();
  await begun.sources.begin();
  await begun.rest();
  assert.deepEqual(begun.turned(), []);
  begun.page.isOn = true;
  await begun.sources.begin();
  await begun.rest();
  assert.deepEqual(begun.turned(), ["register"]);
  assert.ok(page.isOn && sources);
});

test("a page that does not answer is asked again, for a while", async () => {
  let asked = 0;
  const { sources, pass, turned, page, count } = made({ list: async () => ((asked += 1), asked < 3 ? Promise.reject(new Error("busy")) : { origin: ORIGIN, born: 1, tools: JSON.stringify([ADD]) }) });
  page.isOn = true;
  await sources.begin();
  for (let at = 0; at < 4; at += 1) await pass(1_000);
  assert.deepEqual([turned(), asked], [["register"], 3]);
  assert.equal(count().heard, 1);
  asked = -100;
  page.born = 2;
  for (let at = 0; at < 20; at += 1) {
    if (at === 0) await sources.change({ tab: 3, look: true });
    await pass(1_000);
  }
  assert.deepEqual([turned(), asked], [["register", "unregister"], -94]);
});

test("a page that is busy stays offered for a while, and is off at once when it is switched off", async () => {
  let isBusy = false;
  const list = async () => (isBusy ? Promise.reject(new Error("busy")) : { origin: ORIGIN, born: 1, tools: JSON.stringify([ADD]) });
  const { on, sources, turned } = made({ list });
  await on();
  isBusy = true;
  await sources.change({ tab: 3, look: true });
  assert.deepEqual(turned(), ["register"]);
  assert.deepEqual(await sources.change({ tab: 3, origin: ORIGIN, on: false }), { tab: 3, tools: 1, on: false });
  assert.deepEqual(turned(), ["register", "unregister"]);
});

test("where the bridge does not take it, the panel is told why", async () => {
  const { on, bridge } = made();
  bridge.request = async () => Promise.reject(new Error("not today"));
  assert.deepEqual(await on(), { tab: 3, tools: 1, on: true, problem: "not today" });
});
