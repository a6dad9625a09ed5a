// Which profile the bridge is told of a page.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Store } from "../shared/browser/api.ts";
import type { NativeClient } from "../shared/native/client.ts";
import { BrowserProfile } from "./browser_profile.ts";
import { inProfile } from "./in_profile.ts";

const CONTAINER = "container:firefox-container-2";

function played() {
  const seen: [string, unknown][] = [];
  const request = async (type: string, fields: { profile?: string }) => void seen.push([type, fields.profile]);
  return { seen, bridge: { request } as unknown as Pick<NativeClient, "request"> };
}

test("each request for an origin names its profile, and no other request does", async () => {
  const { seen, bridge } = played();
  const inContainer = inProfile(bridge, async () => CONTAINER);
  await inContainer.request("host_call_tool", { origin: "https://a.example", tool_name: "s/t" });
  await inContainer.request("host_grant_permission", { origin: "https://a.example", scope: "mcp:tools.call" });
  await inContainer.request("host_get_permissions", { origin: "https://a.example" });
  await inContainer.request("llm_get_active", {});
  assert.deepEqual(seen, [["host_call_tool", CONTAINER], ["host_grant_permission", CONTAINER], ["host_get_permissions", CONTAINER], ["llm_get_active", undefined]]);
});

test("without a container it is the default profile, named where none would mean all", async () => {
  const { seen, bridge } = played();
  await inProfile(bridge, async () => undefined).request("host_get_permissions", { origin: "https://a.example" });
  await inProfile(bridge, async () => undefined).request("host_call_tool", { origin: "https://a.example", tool_name: "s/t" });
  assert.deepEqual(seen, [["host_get_permissions", "default"], ["host_call_tool", undefined]]);
});

test("the bridge names the browser's own profile, by an id that stays, once in each connection", async () => {
  const kept = new Map<string, unknown>();
  const store = { get: async (key: string) => kept.get(key), set: async (key: string, value: unknown) => void kept.set(key, value) } as Store;
  const ids: unknown[] = [];
  const first = {} as NativeClient["greeting"];
  const asked = (profile: string, greeting: NativeClient["greeting"] = first) =>
    new BrowserProfile({ greeting, request: (async (_: string, fields: { id: string }) => (ids.push(fields.id), { profile })) as unknown as NativeClient["request"] }, { local: store, session: store });
  const one = asked("default");
  assert.deepEqual(await Promise.all([one.of(undefined), one.of(CONTAINER)]), [undefined, CONTAINER]);
  const other = asked("browser:0a1b2c3d");
  assert.deepEqual([await other.of(undefined), await other.of(CONTAINER)], ["browser:0a1b2c3d", `browser:0a1b2c3d/${CONTAINER}`]);
  assert.equal(ids.length, 3);
  assert.ok(/^[0-9a-f]{8}$/.test(String(ids[0])) && new Set(ids).size === 1, String(ids));
  assert.equal(await asked("unheard").lastOf(CONTAINER), `browser:0a1b2c3d/${CONTAINER}`);
  assert.equal(ids.length, 3);
});
