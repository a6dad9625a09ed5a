// What a page's request becomes on its way to `harbor`.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CodedError } from "../shared/protocol/codes.ts";
import { BROWSER_SCOPES } from "../shared/protocol/in_tabs.ts";
import { NOT_HERE, parseFlags } from "./flags.ts";
import { type Capabilities, handlerFor } from "./pages.ts";

const PAGE = { origin: "https://a.example", tab: 3, frame: 0, document: "D" };
const MODELS = { ...Object.fromEntries(BROWSER_SCOPES.map((scope) => [scope, "not-granted"])), "model:prompt": "granted-always", "model:tools": "granted-always", "model:list": "not-granted" };
const CONTEXT = { signal: new AbortController().signal, progress: () => undefined, chunk: () => undefined, onMore: () => undefined };

function played(answers: { [type: string]: unknown }, flags: unknown = {}, page = PAGE) {
  const seen: [string, unknown][] = [];
  const granted: string[] = [];
  const harbor = {
    call: async (type: string, payload: unknown) => {
      seen.push([type, payload]);
      if (answers[type] instanceof Error) throw answers[type];
      return answers[type] ?? (type === "about" ? { model: true, off: [] } : undefined);
    },
  };
  const opened: number[] = [];
  const grant = async (origin: string) => void granted.push(origin);
  const handle = handlerFor(page, harbor, async () => parseFlags(flags), grant, async () => void opened.push(1));
  return { opened, seen, granted, ask: (type: string, payload = {}) => handle(type, payload, CONTEXT) };
}

test("who asks is what the browser said, whatever the page says", async () => {
  const { seen, ask } = played({ call: "result", request_permissions: { granted: false } });
  const forged = { tool: "s/t", args: "{}", origin: "https://bank.example", tab: 9, frame: 9, extra: 1 };
  assert.equal(await ask("call", forged), "result");
  await ask("request_permissions", { ...forged, scopes: ["mcp:tools.call"], document: "X", gesture: "yes" });
  assert.deepEqual(seen, [
    ["call", { origin: PAGE.origin, tab: 3, tool: "s/t", args: "{}", progress: false }],
    ["about", { origin: PAGE.origin, tab: 3 }],
    ["request_permissions", { ...{ origin: PAGE.origin, tab: 3, document: "D" }, gesture: 0, scopes: ["mcp:tools.call"] }],
  ]);
});

test("what is wrong in a request goes no further", async () => {
  const { seen, ask } = played({}, { browserInteraction: true });
  const wrong: [string, object][] = [
    ["call", { tool: "everything/echo", args: JSON.stringify({ message: "x".repeat(300_000) }) }],
    ["call", { tool: 7, args: ["{}"] }],
    ["call", { tool: "__proto__/x", args: '{"__proto__": {"a": 1}}' }],
    ["call", { tool: "everything/echo", args: `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}` }],
    ["call", { tool: "everything/\ud800", args: "{}" }],
    ["prompt", { body: null }],
    ["prompt", { body: "x".repeat(900_001) }],
    ["browser", { act: "fill", selector: "#a", value: true }],
    ["run", { task: " " }],
    ["run", { task: "x", own: 1 }],
    ["session_create", { llm: "x" }],
    ["session_get", {}],
  ];
  for (const [type, payload] of wrong) await assert.rejects(ask(type, payload), { code: "ERR_INVALID_REQUEST" }, JSON.stringify([type, payload]).slice(0, 80));
  assert.deepEqual(seen, []);
});

test("frames of an origin get the API before it hears that it is allowed something", async () => {
  const { granted, ask } = played({ request_permissions: { granted: true } });
  await ask("request_permissions", { scopes: ["mcp:tools.call"] });
  assert.deepEqual(granted, [PAGE.origin]);
  const denied = played({ request_permissions: { granted: false } });
  await denied.ask("request_permissions", { scopes: ["mcp:tools.call"] });
  assert.deepEqual(denied.granted, []);
});

test("a frame may not ask for permissions, and may use them", async () => {
  const { seen, ask } = played({ list: [] }, {}, { ...PAGE, frame: 4 });
  await assert.rejects(ask("request_permissions", { scopes: ["mcp:tools.list"] }), { code: "ERR_PERMISSION_DENIED" });
  await ask("list");
  assert.deepEqual(seen, [["list", { origin: PAGE.origin, tab: 3 }]]);
});

test("a frame leads no page and opens no tab", async () => {
  const flags = { browserInteraction: true, browserControl: true };
  const framed = played({ browser: null }, flags, { ...PAGE, frame: 4 });
  for (const wish of [{ act: "navigate", url: "/" }, { act: "waitForNavigation" }, { act: "tabsCreate", url: "/" }]) await assert.rejects(framed.ask("browser", wish), { code: "ERR_PERMISSION_DENIED" }, wish.act);
  await framed.ask("browser", { act: "readability" });
  assert.deepEqual(framed.seen.map(([type]) => type), ["browser"]);
});

test("what is switched off goes nowhere", async () => {
  const { seen, ask } = played({}, { textGeneration: true, toolAccess: false, toolCalling: false, agentRuns: true, pageTools: true });
  await assert.rejects(ask("list"), { code: "ERR_FEATURE_DISABLED" });
  await assert.rejects(ask("call", { tool: "s/t", args: "{}" }), { code: "ERR_FEATURE_DISABLED" });
  await assert.rejects(ask("request_permissions", { scopes: ["mcp:tools.list"] }), { code: "ERR_FEATURE_DISABLED" });
  assert.deepEqual(seen, []);
  const calling = played({ request_permissions: { granted: true } }, { toolCalling: false, agentRuns: true, pageTools: true });
  await assert.rejects(calling.ask("request_permissions", { scopes: ["mcp:server.connect", "mcp:tools.call"] }), { code: "ERR_FEATURE_DISABLED" });
  await calling.ask("request_permissions", { scopes: ["mcp:tools.list"] });
  assert.deepEqual(calling.seen.map(([type]) => type), ["about", "request_permissions"]);
  const configured = played({ about: { model: true, off: ["textGeneration"] }, request_permissions: { granted: true } });
  await assert.rejects(configured.ask("request_permissions", { scopes: ["model:list", "model:prompt"] }), { code: "ERR_FEATURE_DISABLED" });
  assert.deepEqual(configured.seen.map(([type]) => type), ["about"], "the person is not asked");
  assert.deepEqual(parseFlags({ toolAccess: "no", other: 1 }), { textGeneration: true, toolAccess: true, toolCalling: true, agentRuns: true, pageTools: true, browserInteraction: false, screenshots: false, browserControl: false });
  assert.deepEqual(parseFlags(null), { textGeneration: true, toolAccess: true, toolCalling: true, agentRuns: true, pageTools: true, browserInteraction: false, screenshots: false, browserControl: false });
});

test("the person is asked for the scopes that there are; what there is not, or is switched off, is unavailable", async () => {
  const view = { origin: PAGE.origin, scopes: { "mcp:tools.call": "granted-once", "browser:activeTab.read": "granted-always" } };
  const { seen, granted, ask } = played({ permissions: view, request_permissions: { ...view, granted: true, asked: true } });
  const names = ["mcp:tools.call", "chat:open", "browser:activeTab.read", "__proto__"];
  const answer = (await ask("request_permissions", { scopes: names, tools: ["s/*"] })) as { granted: boolean; scopes: object };
  assert.deepEqual([answer.granted, Object.entries(answer.scopes)], [false, [["mcp:tools.call", "granted-once"], ["browser:activeTab.read", "unavailable"], ["chat:open", "unavailable"], ["__proto__", "unavailable"]]]);
  assert.deepEqual(seen.at(-1)?.[1], { origin: PAGE.origin, tab: 3, document: "D", gesture: 0, scopes: ["mcp:tools.call"], tools: ["s/*"] });
  assert.deepEqual(granted, [PAGE.origin], "what was allowed is allowed");
  const none = (await ask("request_permissions", { scopes: ["chat:open", "mcp:servers.register"] })) as { granted: boolean; scopes: { [scope: string]: string } };
  assert.deepEqual([none.granted, none.scopes["chat:open"], none.scopes["mcp:tools.call"], seen.at(-1)?.[0]], [false, "unavailable", "granted-once", "permissions"]);
  for (const wrong of [[], "mcp:tools.call", [1], [""], ["x".repeat(65)], Array.from({ length: 65 }, (_, at) => `x:${at}`)]) {
    await assert.rejects(ask("request_permissions", { scopes: wrong }), { code: "ERR_INVALID_REQUEST", message: /^scopes must be an array of 1 to 64 names/ });
  }
});

test("what Harbor does in tabs is off until the person switches it on, each part by its own switch", async () => {
  const { seen, ask } = played({});
  for (const act of ["readability", "click", "screenshot", "navigate", "tabsCreate"]) await assert.rejects(ask("browser", { act, selector: "a", url: "x" }), { code: "ERR_FEATURE_DISABLED" }, act);
  await assert.rejects(ask("request_permissions", { scopes: ["browser:tabs.create"] }), { code: "ERR_FEATURE_DISABLED" });
  await assert.rejects(ask("browser", { act: "toString" }), { code: "ERR_INVALID_REQUEST" });
  assert.deepEqual(seen, [["about", { origin: PAGE.origin, tab: 3 }]], "whether Harbor is there, once in a while");
  const without = played({ about: new CodedError("ERR_HARBOR_NOT_FOUND", "the way") });
  await assert.rejects(without.ask("browser", { act: "readability" }), { code: "ERR_HARBOR_NOT_FOUND", message: "the way" });
  const on = played({ browser: "done" }, { browserControl: true });
  await assert.rejects(on.ask("browser", { act: "screenshot", tabId: 4 }), { code: "ERR_FEATURE_DISABLED" });
  assert.equal(await on.ask("browser", { act: "readability", tabId: 4, tab: 9, origin: "https://bank.example" }), "done");
  assert.deepEqual(on.seen.filter(([type]) => type === "browser"), [["browser", { origin: PAGE.origin, tab: 3, act: "readability", tabId: 4 }]]);
});

test("capabilities tell what there is, and without Harbor why there is nothing", async () => {
  const scopes = { ...MODELS, "mcp:tools.list": "granted-once", "mcp:tools.call": "granted-once" };
  const about = { model: true, off: ["toolCalling"] };
  const { ask } = played({ about, permissions: { scopes, allowedTools: ["s/*"] }, list: [{ serverId: "s" }, { serverId: "s" }, { serverId: "t" }] });
  assert.deepEqual(await ask("capabilities"), {
    version: "0.0.0",
    harbor: { connected: true },
    tools: { available: true, count: 3, servers: ["s", "t"] },
    permissions: scopes,
    allowedTools: ["s/*"],
    model: { available: true },
    runs: { available: true },
    browser: { readActiveTab: false, interact: false, screenshot: false, navigate: false, readTabs: false, createTabs: false },
    features: { textGeneration: true, toolAccess: true, toolCalling: false, agentRuns: true, pageTools: true, browserInteraction: false, screenshots: false, browserControl: false, ...NOT_HERE },
  });
  for (const [flags, replies, model, runs] of [
    [{ agentRuns: false }, {}, true, false],
    [{ textGeneration: false }, {}, false, false],
    [{}, { about: { model: false, off: [] } }, false, false],
    [{}, { permissions: { scopes: { ...scopes, "model:tools": "denied" } } }, true, false],
  ] as const) {
    const found = (await played({ about, permissions: { scopes }, list: [], ...replies }, flags).ask("capabilities")) as Capabilities;
    assert.deepEqual([found.model, found.runs], [{ available: model }, { available: runs }]);
  }
  const inTabs = { ...scopes, "browser:activeTab.read": "granted-once", "browser:activeTab.interact": "unavailable", "browser:activeTab.screenshot": "granted-always", "browser:tabs.create": "granted-once", "browser:navigate": "denied" };
  const tabs = async (flags: object) => ((await played({ about, permissions: { scopes: inTabs }, list: [] }, flags).ask("capabilities")) as Capabilities).browser;
  const none = { readActiveTab: false, interact: false, screenshot: false, navigate: false, readTabs: false, createTabs: false };
  assert.deepEqual(await tabs({ browserInteraction: true }), { ...none, readActiveTab: true });
  assert.deepEqual(await tabs({ screenshots: true, browserControl: true }), { ...none, screenshot: true, createTabs: true });
  const inFrame = played({ about, permissions: { scopes: { ...inTabs, "browser:navigate": "granted-once" } }, list: [] }, { browserControl: true, browserInteraction: true }, { ...PAGE, frame: 2 });
  assert.deepEqual(((await inFrame.ask("capabilities")) as Capabilities).browser, { ...none, readActiveTab: true });
  const alone = played({ permissions: new CodedError("ERR_HARBOR_NOT_FOUND", "install it") });
  assert.deepEqual(((await alone.ask("capabilities")) as { harbor: unknown }).harbor, {
    connected: false,
    code: "ERR_HARBOR_NOT_FOUND",
    message: "install it",
  });
});

test("an answer that says no is one: Harbor is there", async () => {
  const scopes = { ...MODELS, "mcp:tools.list": "granted-always", "mcp:tools.call": "not-granted" };
  for (const [code, connected] of [["ERR_RATE_LIMITED", true], ["ERR_INTERNAL", true], ["ERR_BRIDGE_NOT_CONNECTED", false], ["ERR_VERSION_MISMATCH", false]] as const) {
    const { ask } = played({ about: { model: false, off: [] }, permissions: { scopes }, list: new CodedError(code, "why") });
    const { harbor, permissions } = (await ask("capabilities")) as { harbor: unknown; permissions: unknown };
    assert.deepEqual([harbor, permissions], [{ connected, code, message: "why" }, scopes]);
  }
});

test("what is not on the list is refused here already", async () => {
  const { seen, ask } = played({});
  for (const type of ["host_grant_permission", "llm_count_tokens", "measure", "cancel", "", "toString"]) {
    await assert.rejects(ask(type), { code: "ERR_INVALID_REQUEST" });
  }
  assert.deepEqual(seen, []);
});

test("without Harbor, with the switch off, and in a frame that cannot ask, there is no model", async () => {
  const lost = new CodedError("ERR_HARBOR_NOT_FOUND", "not there");
  const states: [unknown, unknown?, unknown?][] = [
    [{ state: "available", window: 9 }, {}, { state: "available", window: 9 }],
    [lost, {}, { state: "unavailable", alone: { code: lost.code, message: lost.message } }],
    // Nobody is asked, so nobody is missing: the browser's own model does not come in instead.
    [lost, { textGeneration: false }],
    [{ state: "available" }, { textGeneration: false }],
  ];
  for (const [answer, flags = {}, expected = { state: "unavailable" }] of states) {
    assert.deepEqual(await played({ model_state: answer }, flags).ask("model_state"), expected);
  }
  const frame = { ...PAGE, frame: 3 };
  assert.deepEqual(await played({ model_state: { state: "downloadable" } }, {}, frame).ask("model_state"), { state: "unavailable", denied: true });
  assert.deepEqual(await played({ model_state: { state: "available" } }, {}, frame).ask("model_state"), { state: "available" });
});

test("what is off is asked for once by who asks what there is and then for it; a click that has asked the person opens no settings", async () => {
  const scopes = { ...MODELS, "mcp:tools.list": "not-granted", "mcp:tools.call": "not-granted" };
  const answer = { origin: PAGE.origin, scopes, granted: false };
  for (const asked of [true, false]) {
    const { opened, seen, ask } = played({ permissions: { scopes }, request_permissions: { ...answer, asked } });
    await ask("capabilities");
    assert.deepEqual(await ask("request_permissions", { gesture: 1, scopes: ["model:prompt"] }), answer);
    assert.deepEqual(seen.map(([type]) => type), ["permissions", "about", "request_permissions"]);
    const settings = ask("open_settings", { gesture: 1 });
    await (asked ? assert.rejects(settings, { code: "ERR_USER_GESTURE_REQUIRED" }) : settings);
    assert.equal(opened.length, asked ? 0 : 1);
  }
  const { seen, ask } = played({ request_permissions: answer });
  await ask("open_settings", { gesture: 1 });
  await ask("request_permissions", { gesture: 1, scopes: ["model:prompt"] });
  assert.equal((seen.at(-1)?.[1] as { gesture: number }).gesture, 0, "nothing is left for a question");
});

test("whether a page could ask is asked for its document, which it does not name itself", async () => {
  const { seen, ask } = played({ model_state: { state: "downloadable" } });
  await ask("model_state", { document: "X" });
  assert.deepEqual(seen, [["model_state", { origin: PAGE.origin, tab: 3, document: "D" }]]);
});

test("a click opens the settings once, and nothing of the page's goes there", async () => {
  const { opened, seen, ask } = played({});
  await assert.rejects(ask("open_settings", { type: "openai", apiKey: "sk-x" }), { code: "ERR_USER_GESTURE_REQUIRED" });
  await ask("open_settings", { gesture: 1, type: "openai", apiKey: "sk-x" });
  await assert.rejects(ask("open_settings", { gesture: 1 }), { code: "ERR_USER_GESTURE_REQUIRED" });
  assert.deepEqual([opened.length, seen], [1, []]);
});
