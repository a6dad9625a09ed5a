// What becomes of a request of `web-agents-api`: the bridge is asked for the page's origin, the person where that is needed.
//
// Owns the way of each request. Must never send the bridge an owner's message that a page's request alone could cause: a
// grant is made of the person's answer.

import type { NativeClient } from "../shared/native/client.ts";
import type { State } from "../shared/native/reconnect.ts";
import type { Context, Handler } from "../shared/ports/answerer.ts";
import { CodedError, pageCode } from "../shared/protocol/codes.ts";
import type { Grant, Pushes } from "../shared/protocol/generated/messages.ts";
import {
  type Asker,
  type BridgeView,
  type CallRequest,
  type ListAnswer,
  type PermissionsAnswer,
  type PermissionsRequest,
  parsePeerRequest,
} from "../shared/protocol/peer.ts";
import { type Asked, askedServers } from "./asked_tools.ts";
import type { Asking, Matter } from "./asking.ts";
import { type Decision, grantsFor, isCovered, isSettled, viewOf } from "./grants.ts";

type Bridge = Pick<NativeClient, "request">;

/** What this works with. */
export interface Parts {
  bridge: Bridge;
  asking: Pick<Asking, "ask">;
  /** Called before a grant is bound to a tab. */
  noteTab(tab: number): Promise<void>;
}

/** Answers `web-agents-api`. Errors have codes that pages may see. */
export function peerHandler(parts: Parts): Handler {
  return async (type, payload, context) => {
    try {
      const request = parsePeerRequest(type, payload);
      switch (request.type) {
        case "permissions":
          return viewOf(request.origin, await grantsOf(parts.bridge, request));
        case "list":
          return await list(parts.bridge, request, context.signal);
        case "call":
          return await call(parts.bridge, request, context);
        case "request_permissions":
          return await requestPermissions(parts, request, context.signal);
      }
    } catch (error) {
      if (!(error instanceof CodedError)) throw error;
      throw new CodedError(pageCode(error.code), error.message, error.details);
    }
  };
}

/** What `web-agents-api` is told of the connection. */
export function stateForPeer(state: State): BridgeView {
  return state.is === "waiting" || state.is === "failed" ? { state: state.is, message: state.reason.message } : { state: state.is };
}

async function grantsOf(bridge: Bridge, { origin, tab }: Asker): Promise<Grant[]> {
  return (await bridge.request("host_get_permissions", { origin, tab_id: tab })).grants;
}

async function list(bridge: Bridge, { origin, tab }: Asker, signal: AbortSignal): Promise<ListAnswer> {
  const { tools } = await bridge.request("host_list_tools", { origin, tab_id: tab }, { signal });
  return tools as ListAnswer;
}

async function call(bridge: Bridge, request: CallRequest, { signal, progress }: Context): Promise<unknown> {
  const { origin, tab, tool, args } = request;
  const wanted = request.progress ? { progress: true } : {};
  const onProgress = ({ progress: now, total, message }: Pushes["progress"]) => progress({ progress: now, total, message });
  const { result } = await bridge.request(
    "host_call_tool",
    { origin, tab_id: tab, tool_name: tool, args: parseArgs(args), ...wanted },
    { signal, onProgress: request.progress ? onProgress : undefined },
  );
  return result;
}

function parseArgs(text: string): { [name: string]: unknown } {
  try {
    const args: unknown = JSON.parse(text);
    if (typeof args === "object" && args !== null && !Array.isArray(args)) return args as { [name: string]: unknown };
  } catch {
    // Said below.
  }
  throw new CodedError("ERR_INVALID_REQUEST", "args must be an object");
}

async function requestPermissions(parts: Parts, wish: PermissionsRequest, signal: AbortSignal): Promise<PermissionsAnswer> {
  const { bridge, asking } = parts;
  const before = await grantsOf(bridge, wish);
  if (!isSettled(wish, before)) {
    const prepare: Matter["prepare"] = async (changed) => {
      if (isSettled(wish, await grantsOf(bridge, wish))) return "settled";
      const { origin, reason, scopes, tools } = wish;
      const view = (asked: Asked) => ({ origin, scopes, ...asked, named: tools !== undefined, ...(reason === undefined ? {} : { reason }) });
      const found = await askedServers(bridge, tools, (later) => changed(view(later)));
      if (tools !== undefined && found.servers.every((server) => server.tools.length === 0)) throw notHere(tools);
      return view(found);
    };
    await asking.ask(wish, { prepare, record: (decision) => record(parts, wish, decision) }, signal);
  }
  const after = await grantsOf(bridge, wish);
  return { granted: isCovered(wish, after), ...viewOf(wish.origin, after) };
}

/** Says for all alike what may be wrong: which servers there are is not a page's to find out. */
function notHere(tools: string[]): CodedError {
  const names = tools.slice(0, 8).join(", ") + (tools.length > 8 ? ", …" : "");
  return new CodedError("ERR_TOOL_NOT_FOUND", `not here: ${names}. The server is not installed, install it first; or it has no such tool`);
}

async function record({ bridge, noteTab }: Parts, wish: PermissionsRequest, decision: Decision): Promise<void> {
  // What was granted while the question stood open counts, too.
  const grants = grantsFor(wish, decision, await grantsOf(bridge, wish));
  if (decision.allow === "once") await noteTab(wish.tab);
  for (const grant of grants) await bridge.request("host_grant_permission", grant);
}
