// Which profile the bridge is told of a page.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { NativeClient } from "../shared/native/client.ts";
import { inProfile } from "./in_profile.ts";

const CONTAINER = "container:firefox-container-2";

function played() {
  const seen: [string, unknown][] = [];
  const request = async (type: string, fields: { profile?: string }) => void seen.push([type, fields.profile]);
  return { seen, bridge: { request } as unknown as Pick<NativeClient, "request"> };
}

test("each request for an origin names its profile, and no other request does", async () => {
  const { seen, bridge } = played();
  const inContainer = inProfile(bridge, CONTAINER);
  await inContainer.request("host_call_tool", { origin: "https://a.example", tool_name: "s/t" });
  await inContainer.request("host_grant_permission", { origin: "https://a.example", scope: "mcp:tools.call" });
  await inContainer.request("host_get_permissions", { origin: "https://a.example" });
  await inContainer.request("llm_get_active", {});
  assert.deepEqual(seen, [["host_call_tool", CONTAINER], ["host_grant_permission", CONTAINER], ["host_get_permissions", CONTAINER], ["llm_get_active", undefined]]);
});

test("without a container it is the default profile, named where none would mean all", async () => {
  const { seen, bridge } = played();
  await inProfile(bridge, undefined).request("host_get_permissions", { origin: "https://a.example" });
  await inProfile(bridge, undefined).request("host_call_tool", { origin: "https://a.example", tool_name: "s/t" });
  assert.deepEqual(seen, [["host_get_permissions", "default"], ["host_call_tool", undefined]]);
});
