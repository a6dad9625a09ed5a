// What Harbor does for a page in tabs, in a browser that is made up: each call has one end, and reaches documents of its origin only.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CodedError } from "../shared/protocol/codes.ts";
import type { BrowserWish } from "../shared/protocol/in_tabs.ts";
import { ClosedTabs } from "./browser/closed_tabs.ts";
import { Numbers } from "./browser/numbers.ts";
import type { Command } from "./browser/page/commands.ts";
import { MOST_TABS, OpenedTabs } from "./opened_tabs.ts";
import { Addresses } from "./page_addresses.ts";
import { type BrowserParts, doInTabs } from "./page_in_tabs.ts";
import { pictureFor } from "./page_picture.ts";
import { toldOf, usable } from "./page_scopes.ts";
import { Documents } from "./browser/documents.ts";

const ORIGIN = "https://a.example";
const [OWN, OPENED, THEIRS] = [3, 7, 8];
const ALL = ["browser:activeTab.read", "browser:activeTab.interact", "browser:activeTab.screenshot", "browser:navigate", "browser:tabs.read", "browser:tabs.create"];

const kept = () => {
  const all = new Map<string, unknown>();
  return { get: async (key: string) => all.get(key), set: async (key: string, value: unknown) => void all.set(key, value) };
};

type Part = (command: Command) => unknown;

/** A browser with these tabs by id, each with its address, whose documents answer by `part`. */
function played(tabs: { [id: number]: string }, part: Part) {
  const removed = new Set<(id: number) => void>();
  const executeScript = async ({ target, args }: { target: { tabId: number }; args?: [{ command?: Command } | null] }) => {
    if (tabs[target.tabId] === undefined) throw new Error("No tab with id");
    const command = args?.[0]?.command;
    if (command === undefined) return [{ result: true }];
    const here = new URL(tabs[target.tabId] as string).origin;
    if (command.place !== undefined && command.place !== here) return [{ result: { elsewhere: here } }];
    const answer = await part(command);
    return [{ result: answer === undefined ? undefined : { generation: command.generation, secrets: [], notes: [], ...(answer as object) } }];
  };
  const events = (set: Set<(id: number) => void>) => ({ addListener: (one: (id: number) => void) => set.add(one), removeListener: (one: (id: number) => void) => set.delete(one) });
  const get = async (id: number) => {
    if (tabs[id] === undefined) throw new Error("no tab");
    return { id, windowId: 1, url: tabs[id], title: "T", active: true, status: "complete" };
  };
  const updated = new Set<(id: number, change?: object) => void>();
  Object.assign(globalThis, { chrome: { scripting: { executeScript }, tabs: { get, onRemoved: events(removed), onUpdated: events(updated as Set<(id: number) => void>), remove: async () => undefined } } });
  const goes = (id: number, change: object) => updated.forEach((hear) => hear(id, change));
  return { listening: () => removed.size, waiting: () => updated.size, goes };
}

async function parts(more: Partial<BrowserParts> = {}, scopes = ALL): Promise<BrowserParts> {
  const opened = new OpenedTabs(kept());
  await opened.open(ORIGIN, async () => OPENED);
  await opened.open("https://b.example", async () => THEIRS);
  const request = async (type: string, { scope }: { scope: string }) => {
    if (type === "host_begin_page_act" && !scopes.includes(scope)) throw new CodedError("ERR_SCOPE_REQUIRED", scope);
    return { granted: scopes.includes(scope) };
  };
  const bridge = { request } as never;
  return { bridge, permits: { readSite: async () => true, usePages: async () => true }, numbers: new Numbers(kept()), opened, addresses: { judged: async (_, url) => url }, ...more };
}

const ask = async (wish: BrowserWish, more?: Partial<BrowserParts>, scopes?: string[], signal = new AbortController().signal) =>
  doInTabs(await parts(more, scopes), { type: "browser", origin: ORIGIN, tab: OWN, ...wish }, signal);

const TEXT: Part = () => ({ reply: { url: "u", title: "t", text: "x".repeat(60_000) } });

test("a document of another origin does nothing, however alike its address is", async () => {
  for (const other of ["https://a.example.", "https://a.example:8443", "http://a.example", "https://xn--a-.example", "https://b.a.example", "https://A.EXAMPLE.evil.example"]) {
    let reached = 0;
    played({ [OWN]: `${other}/`, [OPENED]: `${other}/` }, () => (reached += 1));
    await assert.rejects(ask({ act: "readability" }), { code: "ERR_PERMISSION_DENIED" }, other);
    await assert.rejects(ask({ act: "click", selector: "a", button: "left", doubleClick: false, tabId: OPENED }), { code: "ERR_PERMISSION_DENIED" }, other);
    const tabs = (await ask({ act: "tabsList" })) as { url?: string; title?: string }[];
    assert.deepEqual([reached, tabs.map(({ url, title }) => [url, title])], [0, [[undefined, undefined], [undefined, undefined]]], other);
  }
  played({ [OWN]: "https://A.example:443/x", [OPENED]: `${ORIGIN}/y` }, TEXT);
  assert.equal(((await ask({ act: "readability" })) as { text: string }).text.length, 50_000);
  assert.equal(((await ask({ act: "tabsGet", tabId: OPENED })) as { url: string }).url, `${ORIGIN}/y`);
});

test("a wait for a tab that goes elsewhere has one end: it goes, it does not, or the wait is aborted; and leaves nothing behind", async () => {
  const { waiting, goes } = played({ [OWN]: ORIGIN, [OPENED]: ORIGIN }, TEXT);
  const settle = () => new Promise((next) => setImmediate(next));
  const wait = (timeout: number, tabId?: number, signal?: AbortSignal) => ask({ act: "waitForNavigation", timeout, ...(tabId === undefined ? {} : { tabId }) }, {}, ALL, signal);
  const begun = async () => {
    while (waiting() === 0) await settle();
  };
  const opened = wait(10_000, OPENED);
  await begun();
  goes(THEIRS, { status: "loading" });
  goes(OPENED, { title: "another title" });
  assert.equal(await Promise.race([opened, settle().then(() => "waits")]), "waits");
  goes(OPENED, { status: "loading" });
  assert.equal(await opened, undefined);
  const own = wait(10_000);
  await begun();
  goes(OWN, { url: `${ORIGIN}/#b` });
  assert.equal(await own, undefined);
  await assert.rejects(wait(1, OPENED), { code: "ERR_TOOL_TIMEOUT" });
  const stop = new AbortController();
  const stopped = wait(10_000, OPENED, stop.signal);
  await begun();
  stop.abort(new Error("enough"));
  await assert.rejects(stopped, /enough/);
  await settle();
  assert.equal(waiting(), 0);
  await assert.rejects(ask({ act: "waitForNavigation", timeout: 1 }, { permits: { readSite: async () => false, usePages: async () => false } }), { code: "ERR_SCOPE_REQUIRED" });
});

test("tabs of others, of the person's and none at all are one answer", async () => {
  played({ [OWN]: ORIGIN, [OPENED]: ORIGIN, [THEIRS]: ORIGIN, 9: ORIGIN }, TEXT);
  const messages = new Set<string>();
  for (const tabId of [THEIRS, 9, 4_711]) {
    await assert.rejects(ask({ act: "readability", tabId }), (error: Error & { code?: string }) => messages.add(error.message) && error.code === "ERR_PERMISSION_DENIED");
  }
  assert.equal(messages.size, 1);
  await assert.rejects(ask({ act: "readability", tabId: OWN }), { code: "ERR_PERMISSION_DENIED" }, "what it takes to open tabs is not what its own takes");
  await assert.rejects(ask({ act: "tabsClose", tabId: OWN }), { code: "ERR_PERMISSION_DENIED" });
  const closedTabs = new ClosedTabs(kept());
  played({ [OWN]: ORIGIN, [OPENED]: ORIGIN }, async () => (await closedTabs.close(OPENED, [OPENED]), new Promise(() => undefined)));
  await assert.rejects(ask({ act: "readability", tabId: OPENED }, { closedTabs }), { code: "ERR_PERMISSION_DENIED", message: /has run scripts/ });
  await assert.rejects(ask({ act: "getHtml", tabId: OPENED }, { closedTabs }), { code: "ERR_PERMISSION_DENIED", message: /has run scripts/ });
});

test("each call has one end: the document gone, the tab closed, a page that fails, a caller that is gone", async () => {
  const click: BrowserWish = { act: "click", selector: "a", button: "left", doubleClick: false };
  const ends: [BrowserWish, Part, unknown][] = [
    [{ act: "readability" }, () => undefined, "ERR_TOOL_FAILED"],
    [{ act: "readability" }, () => Promise.reject(new Error("Frame with ID 0 was removed.")), "ERR_TOOL_FAILED"],
    [{ act: "readability" }, () => Promise.reject(new Error("Cannot access contents of the page. Extension manifest must request permission")), "ERR_TOOL_FAILED"],
    [click, () => undefined, "done"],
    [click, () => ({ failure: { kind: "covered", message: "button \"A\" [ref=f1e1] is covered by dialog \"B\" [ref=f1e2]: close that first, or scroll" } }), "ERR_TOOL_FAILED"],
    [click, () => ({ failure: { kind: "denied", message: "is a secret field" } }), "ERR_PERMISSION_DENIED"],
    [click, () => ({ failure: { kind: "not_found", message: "2 elements fit \"a\": name one by its ref" } }), "ERR_TOOL_FAILED"],
    [{ act: "fill", selector: "a", value: "x" }, () => ({ reply: { lines: ["NOT as wanted: it has y"] } }), "ERR_TOOL_FAILED"],
  ];
  for (const [wish, part, end] of ends) {
    played({ [OWN]: ORIGIN }, part);
    const message = await ask(wish).then(() => "done", (error: { code?: string; message: string }) => (assert.doesNotMatch(error.message, /manifest|Frame with|ref/), error.code));
    assert.equal(message, end);
  }
  const tabs: { [id: number]: string } = { [OWN]: ORIGIN, [OPENED]: ORIGIN };
  const { listening } = played(tabs, () => (delete tabs[OPENED], undefined));
  await assert.rejects(ask({ act: "readability", tabId: OPENED }), { code: "ERR_TOOL_FAILED", message: "the tab is closed" });
  assert.equal(listening(), 0, "nobody listens any more");
  const abort = new AbortController();
  played({ [OWN]: ORIGIN }, () => (abort.abort(new Error("gone")), new Promise(() => undefined)));
  await assert.rejects(ask({ act: "readability" }, {}, ALL, abort.signal), { message: "gone" });
});

test("a wait that ends after the grant was taken back gives nothing, and what looks like a ref is CSS", async () => {
  let grants: object[] = [{ scope: "browser:activeTab.read", grant_type: "ALLOW_ONCE" }];
  const targets: unknown[] = [];
  played({ [OWN]: ORIGIN }, ({ options }) => {
    targets.push((options as { target: string }).target);
    grants = [];
    return { reply: { element: { visible: true } } };
  });
  const bridge = { request: async () => ({ grants }) } as never;
  await assert.rejects(ask({ act: "waitForSelector", selector: "f1e2", timeout: 0 }, { bridge }), { code: "ERR_SCOPE_REQUIRED" });
  assert.deepEqual(targets, [":is(f1e2)"]);
});

test("without a grant, or without the browser's permission, nothing is reached", async () => {
  played({ [OWN]: ORIGIN }, () => assert.fail("reached"));
  await assert.rejects(ask({ act: "readability" }, {}, []), { code: "ERR_SCOPE_REQUIRED" });
  await assert.rejects(ask({ act: "click", selector: "a", button: "left", doubleClick: false }, {}, ["browser:activeTab.read"]), { code: "ERR_SCOPE_REQUIRED" });
  await assert.rejects(ask({ act: "readability" }, { permits: { readSite: async () => false, usePages: async () => false } }), { code: "ERR_SCOPE_REQUIRED", message: /unavailable/ });
  await assert.rejects(ask({ act: "screenshot" }, { permits: { readSite: async () => true, usePages: async () => false } }), { code: "ERR_SCOPE_REQUIRED", message: /unavailable/ });
  const permits = { readSite: async () => false, usePages: async () => false };
  const grants = [...ALL, "mcp:tools.list"].map((scope) => ({ scope, grant_type: scope === "browser:activeTab.interact" ? "DENY" : "ALLOW_ONCE" })) as never[];
  const { scopes } = toldOf(ORIGIN, grants, await usable(permits, ORIGIN, grants));
  const words = { ...scopes };
  assert.deepEqual([words["browser:activeTab.read"], words["browser:activeTab.interact"], words["browser:navigate"], words["mcp:tools.list"], words["model:list"]], ["unavailable", "denied", "granted-once", "granted-once", "not-granted"]);
});

test("a site has so many tabs and no more, however many it asks for at once", async () => {
  const opened = new OpenedTabs(kept());
  let last = 0;
  const made = await Promise.all(Array.from({ length: MOST_TABS + 3 }, () => opened.open(ORIGIN, async () => (last += 1))));
  assert.equal(made.filter((tab) => tab !== undefined).length, MOST_TABS);
  await opened.close(1);
  await opened.close(99);
  assert.equal(await opened.open(ORIGIN, async () => 50), 50);
  assert.deepEqual(await opened.of("https://b.example"), []);
});

test("tabs are led by the rules of the browser tools, and a yes about a site holds for the origin that asked", async () => {
  const asked: string[] = [];
  let answer: boolean | undefined = true;
  const config = '[browser]\nblocked = ["*.blocked.example"]\naskFirst = ["shop.example"]\n';
  const addresses = new Addresses({ config: async () => config, aboutSite: async (origin, host) => (asked.push(`${origin} ${host}`), answer) });
  const judged = (url: string, origin = ORIGIN) => addresses.judged(origin, url, new AbortController().signal);
  assert.equal(await judged("HTTPS://B\u00dccher.example:443/x"), "https://xn--bcher-kva.example/x");
  assert.equal(await judged("about:blank"), "about:blank");
  for (const url of ["file:///x", "javascript:1", "data:text/html,x", "chrome://settings", "view-source:https://a.example", "about:config", "blob:https://a.example/1", "https://u@a.example", "https://:p@a.example", "https://BLOCKED.example./", "https://x.blocked.example:8443/"]) {
    await assert.rejects(judged(url), { code: "ERR_PERMISSION_DENIED" }, url);
  }
  for (const url of ["", "x", "//a.example", "https://"]) await assert.rejects(judged(url), { code: "ERR_INVALID_REQUEST" }, url);
  await judged("https://shop.example/1");
  await judged("https://shop.example/2");
  for (const no of [false, undefined]) {
    answer = no;
    await assert.rejects(judged("https://shop.example/", "https://b.example"), { code: "ERR_PERMISSION_DENIED" });
  }
  assert.deepEqual(asked, [`${ORIGIN} shop.example`, "https://b.example shop.example", "https://b.example shop.example"]);
  const unread = new Addresses({ config: async () => "", aboutSite: async () => true });
  await assert.rejects(unread.judged(ORIGIN, "https://c.example", new AbortController().signal), { code: "ERR_PERMISSION_DENIED" });
});

test("there is no picture in which a document was that was not judged, nor one of a tab that is not shown", async () => {
  const taken = { veils: [] as unknown[], pictures: 0 };
  const frames = [{ frameId: 0, parentFrameId: -1, url: `${ORIGIN}/` }, { frameId: 4, parentFrameId: 0, url: "https://b.example/" }];
  const take = async (change: (time: number) => void, isActive = true, before: (over: unknown) => unknown = (over) => over) => {
    let there: unknown = "nothing";
    played({ [OWN]: ORIGIN }, ({ name, options }) => {
      if (name === "covers") return { reply: { covers: [], windowWidth: 100 } };
      if (name !== "veil") return assert.fail(name);
      const { over } = options as { over: string };
      taken.veils.push(over);
      const was = there;
      // Of two documents the first word counts: which of them it was is the other tests' matter.
      if (over !== "nothing") there = over;
      return { reply: { before: over === "nothing" ? before(was) : "nothing" } };
    });
    const nothing = { addListener: () => undefined, removeListener: () => undefined };
    const captureVisibleTab = async () => (change((taken.pictures += 1)), "data:image/png;base64,");
    const own = (globalThis as unknown as { chrome: { tabs: object } }).chrome;
    Object.assign(own.tabs, { captureVisibleTab, onActivated: nothing, get: async (id: number) => ({ id, windowId: 1, active: isActive, status: "complete" }) });
    Object.assign(own, { webNavigation: { getAllFrames: async () => frames } });
    const surely = { leaves: () => ({ gone: new Promise<void>(() => undefined), stop: () => undefined }), allowed: async () => ORIGIN, tell: () => undefined, may: async (_: number, place: string) => place === ORIGIN };
    return pictureFor({ documents: new Documents(surely, new Numbers(kept())), tab: OWN, origin: ORIGIN }, new AbortController().signal);
  };
  // A frame comes during each of the three pictures.
  await assert.rejects(take((time) => void frames.push({ frameId: 10 + time, parentFrameId: 0, url: "https://c.example/" })), { code: "ERR_TOOL_FAILED" });
  assert.equal(taken.pictures, 3);
  assert.ok(taken.veils.includes("all") && taken.veils.includes("fields"));
  // A document came in the place of another one, and had no veil.
  await assert.rejects(take(() => undefined, true, () => "nothing"), { code: "ERR_TOOL_FAILED" });
  taken.pictures = 0;
  await assert.rejects(take(() => undefined, false), { code: "ERR_TOOL_FAILED", message: /only while its window shows it/ });
  assert.equal(taken.pictures, 0);
});
