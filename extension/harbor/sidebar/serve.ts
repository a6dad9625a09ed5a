// Serves the sidebar: what it shows, pushed as it changes, and the requests that it may make.
//
// Owns the list of those. Must never be given to a port that is not of sidebar.html: they speak for the person.

import type { Port } from "../../shared/browser/api.ts";
import type { NativeClient } from "../../shared/native/client.ts";
import type { State } from "../../shared/native/reconnect.ts";
import { answer } from "../../shared/ports/answerer.ts";
import type { Fields } from "../../shared/ports/wire.ts";
import { CodedError } from "../../shared/protocol/codes.ts";
import type { Server } from "../../shared/protocol/generated/messages.ts";

/** What the sidebar is told of the connection. */
export interface BridgeView {
  state: State["is"];
  /** Why there is none, and what to do. */
  message?: string;
  version?: string;
}

/** What is pushed to the sidebar. */
export interface SidebarPushes {
  bridge: BridgeView;
  servers: { servers: Server[] };
}

type Bridge = Pick<NativeClient, "request" | "watch" | "onState" | "onPush" | "state" | "greeting">;

export function viewOfBridge({ state, greeting }: Pick<Bridge, "state" | "greeting">): BridgeView {
  const view: BridgeView = { state: state.is };
  if (state.is === "waiting" || state.is === "failed") view.message = state.reason.message;
  if (greeting !== undefined) view.version = greeting.bridge_version;
  return view;
}

/** Sidebars that are open. One list of servers is read for all of them. */
const sidebars = new Set<(type: keyof SidebarPushes, payload: Fields) => void>();
let listening = false;

export function serveSidebar(port: Port, bridge: Bridge): void {
  const push = answer(port, (type, payload, { signal }) => ask(bridge, type, payload, signal), { open: 32 });
  sidebars.add(push);
  listenOnce(bridge);
  push("bridge", { ...viewOfBridge(bridge) });
  const stopWatching = bridge.watch();
  if (bridge.state.is === "ready") void tellServers(bridge);
  port.onDisconnect(() => {
    sidebars.delete(push);
    stopWatching();
  });
}

function listenOnce(bridge: Bridge): void {
  if (listening) return;
  listening = true;
  bridge.onState(() => {
    for (const push of sidebars) push("bridge", { ...viewOfBridge(bridge) });
    if (bridge.state.is === "ready" && sidebars.size > 0) void tellServers(bridge);
  });
  bridge.onPush((type) => {
    if (type === "server_event" && sidebars.size > 0) void tellServers(bridge);
  });
}

/** Begins the events of this connection, and tells what there is; both are one request. */
async function tellServers(bridge: Bridge): Promise<void> {
  try {
    const { servers } = await bridge.request("watch_servers", {});
    for (const push of sidebars) push("servers", { servers });
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
  }
}

async function ask(bridge: Bridge, type: string, payload: Fields, signal: AbortSignal): Promise<unknown> {
  const server_id = String(payload["server_id"]);
  switch (type) {
    case "start":
      return bridge.request("connect_server", { server_id }, { signal });
    case "restart":
      return bridge.request("connect_server", { server_id, restart: true }, { signal });
    case "stop":
      return bridge.request("disconnect_server", { server_id }, { signal });
    case "try_again":
      return bridge.request("ping", {}, { signal });
    default:
      throw new CodedError("ERR_INVALID_REQUEST", "the sidebar may not ask this");
  }
}
