// What `web-agents-api` is told of grants, and when.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Grant } from "../shared/protocol/generated/messages.ts";
import { grantedOrigins, tellGranted } from "./granted.ts";

const grant = (origin: string, grant_type: string, scope = "mcp:tools.call", profile = "default"): Grant => ({
  ...{ origin, profile, scope, grant_type, created_at: 1 },
});

test("origins of pages with something that is allowed, and nothing more", () => {
  const grants = [
    grant("https://a.example", "ALLOW_ONCE"),
    grant("https://a.example", "DENY", "mcp:tools.list"),
    grant("https://b.example", "DENY"),
    grant("https://b.example", "ALLOW_ALWAYS"),
    grant("https://c.example", "ALLOW_ALWAYS", "mcp:tools.call", "other"),
    grant("https://d.example", "ALLOW_ALWAYS", "chat:open"),
    grant("https://f.example", "ALLOW_ALWAYS", "model:prompt"),
    grant("https://g.example", "ALLOW_ALWAYS", "mcp:tools.call", "container:firefox-container-1"),
    grant("https://g.example", "DENY"),
    grant("client://e", "ALLOW_ALWAYS"),
  ];
  assert.deepEqual(grantedOrigins(grants), ["https://a.example", "https://f.example", "https://g.example"]);
});

test("it is told once there is a connection, at each change, and when somebody new is there", async () => {
  let grants: Grant[] = [];
  const told: string[][] = [];
  const asked: string[] = [];
  const listeners: { state(): void; push(type: string, fields: { [name: string]: unknown }): void } = { state: () => undefined, push: () => undefined };
  const bridge = {
    state: { is: "idle" } as { is: "idle" } | { is: "ready" },
    onState: (listener: () => void) => void (listeners.state = listener),
    onPush: (listener: (type: string, fields: { [name: string]: unknown }) => void) => void (listeners.push = listener),
    request: (async (type: string) => (asked.push(type), { grants })) as never,
  };
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const again = tellGranted(bridge, async (origins) => void told.push(origins));
  again();
  await settle();
  assert.deepEqual([told, asked], [[], []]);
  bridge.state = { is: "ready" };
  listeners.state();
  await settle();
  grants = [grant("https://a.example", "ALLOW_ALWAYS")];
  // Two grants of one answer are one change.
  listeners.push("grant_changed", {});
  listeners.push("grant_changed", {});
  listeners.push("server_event", {});
  await settle();
  again();
  await settle();
  const list = "host_list_all_permissions";
  assert.deepEqual(asked, ["host_watch", list, list, list]);
  assert.deepEqual(told, [[], ["https://a.example"], ["https://a.example"]]);
});
