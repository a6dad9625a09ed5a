// The switch of the browser's tools, with a bridge and a browser that are made up.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ClosedTabs } from "./closed_tabs.ts";
import { Numbers } from "./numbers.ts";
import { BrowserSource } from "./source.ts";

/** A browser that lets pages be used, and in which nothing happens; `downloads`: whether it lets them be followed. */
function quietBrowser(permissions: { downloads: boolean; changed?: () => void }): void {
  const event = { addListener: () => undefined };
  const changing = { addListener: (listener: () => void) => void (permissions.changed = listener) };
  const contains = async ({ permissions: asked }: { permissions: string[] }) => !asked.includes("cookies") && (permissions.downloads || !asked.includes("downloads"));
  const events = new Proxy({}, { get: () => event });
  const tabs = new Proxy({ query: async () => [] }, { get: (own, name) => (name === "query" ? own.query : event) });
  Object.assign(globalThis, { chrome: { permissions: { contains, onAdded: changing, onRemoved: event }, webNavigation: events, webRequest: events, downloads: events, tabs } });
}

/** A bridge that answers when the test does: each request with the way to answer it, in order. */
function waitingBridge() {
  const asked: { type: string; source_id?: string; abilities?: string[]; resolve(reply: object): void; reject(error: Error): void }[] = [];
  const waiting: (() => void)[] = [];
  const bridge = {
    state: { is: "ready" } as const,
    watch: () => () => undefined,
    onState: () => undefined,
    onPush: () => undefined,
    request: (type: string, fields: object) =>
      new Promise<never>((resolve, reject) => {
        asked.push({ type, ...fields, resolve: resolve as (reply: object) => void, reject });
        waiting.shift()?.();
      }),
  };
  /** The next request. */
  const next = async () => {
    if (asked.length === 0) await new Promise<void>((come) => waiting.push(come));
    return asked.shift() ?? assert.fail("no request");
  };
  return { bridge, next, left: asked };
}

function made(permissions: { downloads: boolean; changed?: () => void } = { downloads: false }) {
  quietBrowser(permissions);
  const { bridge, next, left } = waitingBridge();
  return { source: new BrowserSource(bridge, "", async () => undefined, new Numbers({ get: async () => undefined, set: async () => undefined }), new ClosedTabs({ get: async () => undefined, set: async () => undefined })), next, left };
}

test("switched off while it is being registered, it is off", async () => {
  const { source, next, left } = made();
  const on = source.switch(true);
  const registering = await next();
  assert.equal(registering.type, "source_register");
  const off = source.switch(false);
  registering.resolve({ source_id: "browser" });
  const { type, source_id, resolve } = await next();
  assert.deepEqual([type, source_id], ["source_unregister", "browser"]);
  resolve({});
  await Promise.all([on, off]);
  assert.deepEqual([source.id, left], [undefined, []]);
});

test("where registering is refused, the switch says so, and the next one registers", async () => {
  const { source, next } = made();
  const refused = source.switch(true);
  (await next()).reject(new Error("refused"));
  await assert.rejects(refused, /refused/);
  const on = source.switch(true);
  (await next()).resolve({ source_id: "browser" });
  await on;
  assert.equal(source.id, "browser");
});

test("where the person lets downloads be followed, it is registered anew with that ability", async () => {
  const permissions: { downloads: boolean; changed?: () => void } = { downloads: false };
  const { source, next, left } = made(permissions);
  const on = source.switch(true);
  const first = await next();
  assert.deepEqual([first.type, first.abilities], ["source_register", []]);
  first.resolve({ source_id: "browser" });
  await on;
  permissions.downloads = true;
  permissions.changed?.();
  const again = await next();
  assert.deepEqual([again.type, again.abilities], ["source_register", ["downloads"]]);
  again.resolve({ source_id: "browser" });
  await source.switch(true);
  assert.deepEqual([source.id, left], ["browser", []]);
});
