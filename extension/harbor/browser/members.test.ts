// Which tabs are in which session, in a browser that is made up.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Around, Members } from "./members.ts";
import { Watch } from "./watch.ts";

const [SESSION, TAB] = ["session", 7];

test("where the bridge goes while a tab is opened, the tab is closed, and no session's", async () => {
  const open = new Set<number>();
  const tabs = { create: async ({ url }: { url: string }) => (open.add(TAB), { id: TAB, windowId: 1, url }), remove: async ([id = 0]: number[]) => void open.delete(id) };
  Object.assign(globalThis, { chrome: { tabs } });
  const none = () => undefined;
  const watch = new Watch({ setsOut: none, committed: none, kin: none, opened: none, closed: none, replaced: none, left: none, joined: none, elsewhere: none, hosts: async () => undefined });
  const gone = new Error("Harbor is not connected");
  const members = new Members({ watch, event: () => Promise.reject(gone), look: none, forget: none, changed: none } as Partial<Around> as Around);
  await assert.rejects(members.open(SESSION, "https://a.example/"), gone);
  assert.deepEqual([[...open], watch.tabsOf(SESSION)], [[], []]);
});
