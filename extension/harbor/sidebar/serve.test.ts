// The background's end of sidebars, and what a sidebar has under way.

import assert from "node:assert/strict";
import { mock, test } from "node:test";
import type { Port } from "../../shared/browser/api.ts";
import type { NativeClient } from "../../shared/native/client.ts";
import { CodedError } from "../../shared/protocol/codes.ts";
import { parseFlagsAnswer } from "../page_flags.ts";
import { coverOf, switched, switchedTool } from "./clients.ts";
import { Hands } from "./hands.ts";
import { Sidebars } from "./serve.ts";
import { type State, Store } from "./store.ts";

const settle = () => new Promise((resolve) => setImmediate(resolve));

/** A bridge that is connected, answers at once and notes what it is asked. */
function bridge() {
  const asked: string[] = [];
  const listeners: ((type: string, fields: object) => void)[] = [];
  const made = {
    state: { is: "ready" },
    greeting: { bridge_version: "1" },
    watch: () => () => undefined,
    onState: () => undefined,
    onPush: (listener: (typeof listeners)[number]) => void listeners.push(listener),
    request: async (type: string, fields: { server_id?: string; follow?: boolean }) => {
      asked.push([type, fields.server_id, fields.follow].filter((one) => one !== undefined).join(" "));
      await settle();
      return type === "watch_servers" ? { servers: [asked.length] } : { logs: [] };
    },
  };
  const push = (type: string, fields: object) => listeners.forEach((listener) => listener(type, fields));
  return { asked, push, client: made as unknown as NativeClient };
}

/** A port of a sidebar. */
function sidebar(sidebars: Sidebars) {
  const heard: any[] = [];
  let hear: (message: unknown) => void = () => undefined;
  let end: (reason: string) => void = () => undefined;
  const ends: ((reason: string) => void)[] = [];
  const port: Port = {
    name: "own",
    sender: {},
    post: (message) => void heard.push(message),
    onMessage: (listener) => void (hear = listener),
    onDisconnect: (listener) => void ends.push(listener),
    disconnect: () => undefined,
  };
  end = (reason) => ends.forEach((one) => one(reason));
  sidebars.serve(port);
  let last = 0;
  const ask = (type: string, payload: object) => hear({ id: ++last, type, payload });
  const pushed = (type: string) => heard.filter((one) => one.push === type);
  return { heard, ask, pushed, end: () => end("") };
}

const answered: string[] = [];
const PAGES = { chatShown: () => undefined, chatLeft: () => undefined, answered: (id: string) => void answered.push(id), siteIn: async (windowId: number) => (windowId === 1 ? { origin: "https://a.example", tab: 3 } : undefined), openOptions: async () => undefined, pageFlags: async ({ flag = "a", on = true }) => ({ flags: { [flag]: on } }), pageTools: async ({ tab }: { tab: number }) => ({ tab, tools: 0, on: false }), browserTools: async () => ({ on: false, permitted: false, downloads: false, cookies: false, scripts: false, marks: true, sessions: [] }) };

test("a sidebar hears of the page in its own window, and of calls once for many", async () => {
  const sidebars = new Sidebars(bridge().client, PAGES);
  const one = sidebar(sidebars);
  await sidebars.pageShown(1);
  assert.deepEqual(one.pushed("site"), []);
  one.ask("watch_site", { window_id: 1 });
  one.ask("watch_site", { window_id: "1" });
  await settle();
  await sidebars.pageShown(2);
  assert.deepEqual(one.pushed("site").map(({ payload }) => payload), [{ site: { origin: "https://a.example", tab: 3 } }]);
  mock.timers.enable({ apis: ["setTimeout"] });
  for (let time = 0; time < 9; time += 1) sidebars.acted();
  mock.timers.tick(1_000);
  mock.timers.reset();
  assert.equal(one.pushed("activity").length, 1);
});

test("a sidebar that opens has a connection made for it, and is never told that there is none", () => {
  const { client } = bridge();
  const made = client as { state: { is: string } };
  made.state = { is: "idle" };
  client.watch = () => {
    made.state = { is: "connecting" };
    return () => undefined;
  };
  const told = sidebar(new Sidebars(client, PAGES)).pushed("bridge");
  assert.deepEqual(told.map(({ payload }) => payload.state), ["connecting"]);
});

test("a log is followed once for all sidebars, and until the last of them has enough", async () => {
  const { asked, push, client } = bridge();
  const sidebars = new Sidebars(client, PAGES);
  const [one, two] = [sidebar(sidebars), sidebar(sidebars)];
  for (const each of [one, two]) each.ask("mcp_get_logs", { server_id: "a", follow: true });
  await settle();
  push("server_log", { server_id: "a", text: "x" });
  push("server_log", { server_id: "b", text: "y" });
  assert.deepEqual([one.pushed("server_log").length, two.pushed("server_log").length], [1, 1]);
  one.ask("mcp_get_logs", { server_id: "a", follow: false });
  await settle();
  push("server_log", { server_id: "a", text: "z" });
  assert.deepEqual([one.pushed("server_log").length, two.pushed("server_log").length], [1, 2]);
  assert.ok(!asked.includes("mcp_get_logs a false"));
  two.end();
  await settle();
  assert.ok(asked.includes("mcp_get_logs a false"));
});

test("many events have the servers read once more, and no more often", async () => {
  const { asked, push, client } = bridge();
  const open = sidebar(new Sidebars(client, PAGES));
  for (let at = 0; at < 50; at += 1) push("server_event", {});
  for (let at = 0; at < 9; at += 1) await settle();
  assert.equal(asked.filter((one) => one === "watch_servers").length, 2);
  assert.equal(open.pushed("servers").length, 2);
  push("grant_changed", { change: "granted" });
  assert.deepEqual(open.pushed("grant_changed"), [{ push: "grant_changed", payload: { change: "granted" } }]);
});

test("once a change is accepted the servers are told anew, and not before", async () => {
  const { asked, client } = bridge();
  const sidebars = new Sidebars(client, PAGES);
  const open = [sidebar(sidebars), sidebar(sidebars)];
  const told = () => open.map(({ pushed }) => pushed("servers").length);
  for (let at = 0; at < 9; at += 1) await settle();
  const [before, from] = [told(), asked.length];
  open[0]?.ask("host_accept_tool_change", { server_id: "a", tool_name: "t", tool_hash: "h" });
  for (let at = 0; at < 9; at += 1) await settle();
  assert.deepEqual(asked.slice(from), ["host_accept_tool_change a", "watch_servers"]);
  assert.deepEqual(told(), before.map((count) => count + 1));
});

test("what is not on the list does not reach the bridge", async () => {
  const { asked, client } = bridge();
  const open = sidebar(new Sidebars(client, PAGES));
  for (let at = 0; at < 5; at += 1) await settle();
  const before = asked.length;
  open.ask("host_grant_permission", { origin: "https://a.example", scope: "mcp:tools.call" });
  await settle();
  assert.deepEqual([asked.length, open.heard.at(-1)?.error.code], [before, "ERR_INVALID_REQUEST"]);
});

test("a question that is answered in a sidebar loses its window before the bridge hears of it", async () => {
  const { asked, client } = bridge();
  const open = sidebar(new Sidebars(client, PAGES));
  open.ask("approvals_answer", { approval_id: "q", answer: "once" });
  assert.deepEqual([answered, asked.includes("approvals_answer")], [["q"], true]);
  open.ask("approvals_answer", { approval_id: "q" });
  for (let at = 0; at < 5; at += 1) await settle();
  assert.deepEqual([answered, open.heard.filter((one) => one.error !== undefined).map((one) => one.error.code)], [["q"], ["ERR_INVALID_REQUEST"]]);
});

test("questions are pushed to sidebars as they come and go", () => {
  const { push, client } = bridge();
  const open = sidebar(new Sidebars(client, PAGES));
  push("approval", { approval: { id: "q" }, waits: true });
  assert.deepEqual(open.pushed("approval"), [{ push: "approval", payload: { approval: { id: "q" }, waits: true } }]);
});

test("a client's tools are switched where it was given some, and nobody else's", async () => {
  const { client } = bridge();
  const grants: object[] = [];
  const asked: [string, any][] = [];
  client.request = (async (type: string, fields: object) => {
    asked.push([type, fields]);
    return type === "watch_servers" ? { servers: [] } : { grants };
  }) as never;
  const open = sidebar(new Sidebars(client, PAGES));
  const made = () => asked.filter(([type]) => type === "host_grant_permission").map(([, fields]) => fields);
  const code = async (payload: object) => {
    open.ask("client_tools", payload);
    for (let at = 0; at < 5; at += 1) await settle();
    return open.heard.at(-1)?.error?.code;
  };
  const tools = ["a/*"];
  for (const origin of ["https://a.example", "client://", "client://a/b", "client://a b", 1]) assert.equal(await code({ origin, tools }), "ERR_INVALID_REQUEST");
  for (const wrong of [undefined, [1], "a/*"]) assert.equal(await code({ origin: "client://x", tools: wrong }), "ERR_INVALID_REQUEST");
  assert.equal(await code({ origin: "client://x", tools }), "ERR_PERMISSION_DENIED");
  grants.push({ origin: "client://x", scope: "mcp:tools.call", grant_type: "ALLOW_ONCE" });
  assert.equal(await code({ origin: "client://x", tools }), "ERR_PERMISSION_DENIED");
  assert.deepEqual(made(), []);
  grants.push({ origin: "client://x", scope: "mcp:tools.call", grant_type: "ALLOW_ALWAYS" });
  assert.equal(await code({ origin: "client://x", tools, profile: "other" }), undefined);
  const grant = (scope: string) => ({ origin: "client://x", scope, grant_type: "ALLOW_ALWAYS", allowed_tools: tools });
  assert.deepEqual(made(), [grant("mcp:tools.call"), grant("mcp:tools.list")]);
});

test("the switches for pages are read and turned by the panel, as the other extension tells them", async () => {
  const one = sidebar(new Sidebars(bridge().client, PAGES));
  one.ask("page_flags", {});
  one.ask("page_flags", { flag: "toolAccess", on: false });
  one.ask("page_flags", { flag: "toolAccess", on: "no" });
  await settle();
  assert.deepEqual(one.heard.flatMap(({ result, error }: any) => (result === undefined && error === undefined ? [] : [result?.flags ?? error.code])), ["ERR_INVALID_REQUEST", { a: true }, { toolAccess: false }]);
  assert.deepEqual(parseFlagsAnswer({ flags: { a: true, b: "yes" } }), { flags: { a: true } });
  assert.throws(() => parseFlagsAnswer(undefined), /missing, or is older/);
});

test("a single tool is switched; one less than all of a server is the others by name", () => {
  const all = ["a/x", "a/y"];
  assert.deepEqual(switchedTool(["*"], ["a", "b"], "a/x", all, false), ["a/y", "b/*"]);
  assert.deepEqual(switchedTool(["a/*", "b/z"], ["a", "b"], "a/y", all, false), ["a/x", "b/z"]);
  assert.deepEqual(switchedTool(["a/y"], ["a"], "a/x", all, true), ["a/x", "a/y"]);
  assert.deepEqual(switchedTool(["a/y"], ["a"], "a/y", all, false), []);
  assert.deepEqual(switchedTool(["b/z"], ["a", "b"], "a/x", all, true), ["a/x", "b/z"]);
});

test("a list of tools changes by the server that was switched", () => {
  assert.deepEqual(switched(["*"], ["a", "b"], "a", false), ["b/*"]);
  assert.deepEqual(switched(["*", "browser/click"], ["a", "b"], "b", false), ["a/*", "browser/click"]);
  assert.deepEqual(switched(["a/x", "a/y", "b/*"], ["a", "b"], "a", false), ["b/*"]);
  assert.deepEqual(switched(["a/x"], ["a", "b"], "b", true), ["a/x", "b/*"]);
  // All servers are no browser: that is switched by itself.
  assert.deepEqual(switched(["*"], ["a", "b"], "browser", true), ["*", "browser/*"]);
  assert.deepEqual(switched(["*", "browser/click"], ["a", "b"], "browser", false), ["*"]);
  assert.deepEqual([coverOf(["*"], "browser"), coverOf(["*", "browser:work/*"], "browser:work")], [0, "all"]);
  assert.deepEqual([coverOf(["*"], "a"), coverOf(["a/*"], "a"), coverOf(["a/x", "a/y"], "a"), coverOf(["ab/*"], "a")], ["all", "all", 2, 0]);
});

function hands() {
  const store = new Store({ acts: {}, said: "" } as unknown as State, () => undefined);
  return new Hands(store, () => Promise.reject(new Error("nobody is asked")));
}

test("something is begun once, fails where it was begun, and is forgotten when the person leaves", async () => {
  const act = hands();
  const state = () => act.state.acts;
  let begun = 0;
  const fail = async () => {
    begun += 1;
    await settle();
    throw new CodedError("ERR_X", "why");
  };
  act.act("a", fail);
  act.act("a", fail);
  assert.deepEqual([begun, state()], [1, { a: "busy" }]);
  await settle();
  await settle();
  assert.deepEqual(state(), { a: { code: "ERR_X", message: "why" } });
  act.forget();
  const leaving = new AbortController();
  act.act("a", fail, leaving.signal);
  leaving.abort();
  act.act("a", fail);
  assert.equal(begun, 3);
  await settle();
  await settle();
  assert.deepEqual(state(), { a: { code: "ERR_X", message: "why" } });
});

test("a remark is over where the person goes on, unless it is said for there", () => {
  const made = hands();
  const said = () => made.state.said;
  const place = { hash: "#server/a/overview" };
  Object.assign(globalThis, { location: place });
  try {
    made.say("one");
    made.arrived();
    assert.equal(said(), "");
    made.go({ at: "servers" }, "two");
    assert.deepEqual([place.hash, said()], ["#servers", ""]);
    made.arrived();
    assert.equal(said(), "two");
    // Nothing moves: there is no arrival.
    made.go({ at: "servers" }, "three");
    assert.equal(said(), "three");
    made.hush();
    assert.equal(said(), "");
  } finally {
    Reflect.deleteProperty(globalThis, "location");
  }
});

test("what changes while it is read is read once more", async () => {
  const made = hands();
  let reads = 0;
  const read = async () => {
    reads += 1;
    await settle();
  };
  for (let at = 0; at < 5; at += 1) made.read("a", read);
  for (let at = 0; at < 5; at += 1) await settle();
  assert.deepEqual([reads, made.state.acts], [2, {}]);
});
