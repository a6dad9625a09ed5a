// What becomes of a request of `web-agents-api`: the bridge is asked for the page's origin, the person where that is needed.
//
// Owns the way of each request. Must never send the bridge an owner's message that a page's request alone could cause: a
// grant is made of the person's answer.

import type { NativeClient } from "../shared/native/client.ts";
import type { State } from "../shared/native/reconnect.ts";
import type { Context, Handler } from "../shared/ports/answerer.ts";
import type { After } from "../shared/ports/caller.ts";
import { CodedError, pageCode } from "../shared/protocol/codes.ts";
import { placeOf } from "../shared/origins/profile.ts";
import type { Grant, Pushes } from "../shared/protocol/generated/messages.ts";
import {
  type AskedAnswer,
  type Asker,
  type BridgeView,
  type CallRequest,
  type ListAnswer,
  type PeerRequest,
  type PermissionsRequest,
  type PermissionsView,
  isOfModels,
  isOfTools,
  parsePeerRequest,
} from "../shared/protocol/peer.ts";
import { type Asked, askedServers } from "./asked_tools.ts";
import type { Asking, Matter } from "./asking.ts";
import type { BrowserProfile } from "./browser_profile.ts";
import type { ClosedTabs } from "./browser/closed_tabs.ts";
import { type Decision, grantsFor, isAllowedForGood, isCovered, isSettled, outcomeOf, revocationsFor } from "./grants.ts";
import { inProfile } from "./in_profile.ts";
import type { LeftOut } from "./left_out.ts";
import { modelFor } from "./model.ts";
import { onceSeconds } from "./once.ts";
import type { AskedServer } from "./own.ts";
import { paced } from "./pace.ts";
import { type BrowserParts, doInTabs } from "./page_in_tabs.ts";
import { activeProvider, modelState, prompt, providers } from "./page_models.ts";
import { lackOf, toldOf, usable } from "./page_scopes.ts";
import { parseObject } from "./parse.ts";
import { about, runs } from "./runs.ts";

type Bridge = Pick<NativeClient, "request">;

/** What this works with. */
export interface Parts {
  bridge: Bridge;
  asking: Pick<Asking, "ask"> & Partial<Pick<Asking, "isAsking" | "mayAsk">>;
  leftOut: Pick<LeftOut, "of" | "note">;
  profiles: Pick<BrowserProfile, "of">;
  /** The tabs in whose pages AI clients have run scripts: they could use what the person gave to the site. */
  closedTabs?: Pick<ClosedTabs, "whileOpen">;
  /** For what pages may do in tabs. */
  inTabs: Omit<BrowserParts, "bridge" | "closedTabs">;
  /** Called before a grant is bound to a tab. */
  noteTab(tab: number): Promise<void>;
  after: After;
  /** Called when something has been done that the audit log tells of. */
  acted(): void;
}

/** Answers `web-agents-api`. Errors have codes that pages may see. */
export function peerHandler(parts: Parts): Handler {
  return async (type, payload, context) => {
    try {
      const request = parsePeerRequest(type, payload);
      const own = { ...parts, bridge: inProfile(parts.bridge, () => parts.profiles.of(request.profile)) };
      if (parts.closedTabs === undefined) return await answerTo(own, request, context);
      return await parts.closedTabs.whileOpen(request.tab, context.signal, (signal) => answerTo(own, request, until(signal, context)));
    } catch (error) {
      if (!(error instanceof CodedError)) throw error;
      throw new CodedError(isMissing(error) ? "ERR_HARBOR_NOT_FOUND" : pageCode(error.code), error.message, error.details);
    }
  };
}

/** The same until something ends it: nothing is said after that. */
function until(signal: AbortSignal, context: Context): Context {
  return {
    signal,
    progress: (progress) => (signal.aborted ? undefined : context.progress(progress)),
    chunk: (chunk) => (signal.aborted ? undefined : context.chunk(chunk)),
    onMore: (listener) => context.onMore(listener),
  };
}

async function answerTo(parts: Parts, request: PeerRequest, context: Context): Promise<unknown> {
  switch (request.type) {
    case "permissions":
      return permissions(parts, request);
    case "browser":
      return doInTabs({ bridge: parts.bridge, closedTabs: parts.closedTabs, ...parts.inTabs }, request, context.signal);
    case "list":
      return list(parts.bridge, request, context.signal);
    case "call":
      return call(parts, request, context);
    case "prompt":
      return prompt(parts.bridge, request, context, parts.after).finally(parts.acted);
    case "model_state":
      return modelState(parts.bridge, request, {
        isAsking: parts.asking.isAsking?.(request.origin) === true,
        mayAsk: (await parts.asking.mayAsk?.(request)) !== false,
      });
    case "providers":
      return providers(parts.bridge, request, context.signal);
    case "active_provider":
      return activeProvider(parts.bridge, request);
    case "about":
      return about(parts.bridge);
    case "run":
    case "session_create":
    case "session_get":
    case "session_list":
    case "session_end":
      return runs(parts, request, context);
    case "request_permissions":
      return requestPermissions(parts, request, context.signal);
  }
}

/** Whether this browser knows no program of Harbor's: nothing ends that but the person, and the message says how. */
function isMissing({ details }: CodedError): boolean {
  const { cause } = Object(details) as { cause?: unknown };
  return cause === "host_missing" || cause === "host_forbidden";
}

/** What `web-agents-api` is told of the connection. */
export function stateForPeer(state: State): BridgeView {
  return state.is === "waiting" || state.is === "failed" ? { state: state.is, message: state.reason.message } : { state: state.is };
}

async function permissions({ bridge, inTabs: { permits } }: Parts, asker: Asker): Promise<PermissionsView> {
  const grants = await grantsOf(bridge, asker);
  return toldOf(asker.origin, grants, await usable(permits, asker.origin, grants));
}

async function grantsOf(bridge: Bridge, { origin, tab }: Asker): Promise<Grant[]> {
  return (await bridge.request("host_get_permissions", { origin, tab_id: tab })).grants;
}

async function list(bridge: Bridge, { origin, tab }: Asker, signal: AbortSignal): Promise<ListAnswer> {
  const { tools } = await bridge.request("host_list_tools", { origin, tab_id: tab }, { signal });
  // Which other Harbors the person has is nothing for pages.
  return (tools as ListAnswer).map(({ via: _, ...tool }) => tool);
}

async function call({ bridge, after, acted }: Parts, request: CallRequest, { signal, progress }: Context): Promise<unknown> {
  const { origin, tab, tool, args } = request;
  const fields = { origin, tab_id: tab, tool_name: tool, args: parseObject("args", args) };
  const wanted = request.progress ? { progress: true } : {};
  const pace = paced(progress, after);
  const onProgress = ({ progress: now, total, message }: Pushes["progress"]) => pace.say({ progress: now, total, message });
  try {
    const { result } = await bridge.request(
      "host_call_tool",
      { ...fields, ...wanted },
      { signal, onProgress: request.progress ? onProgress : undefined },
    );
    return result;
  } finally {
    pace.finish();
    acted();
  }
}

async function requestPermissions(parts: Parts, wish: PermissionsRequest, signal: AbortSignal): Promise<AskedAnswer> {
  const { bridge, asking } = parts;
  let asked = false;
  if (!(await isSettledNow(parts, wish))) {
    let shown: AskedServer[] = [];
    const prepare: Matter["prepare"] = async (changed) => {
      if (await isSettledNow(parts, wish)) return "settled";
      const { origin, profile, reason, scopes, tools } = wish;
      const ofTools = scopes.some(isOfTools);
      const onlyTools = scopes.every((scope) => isOfTools(scope) || scope === "mcp:server.connect");
      const [before, seconds, lack, model] = await Promise.all([
        beforeOf(parts, wish),
        onceSeconds(bridge),
        lackOf(parts.inTabs.permits, origin, scopes),
        scopes.some(isOfModels) ? modelFor(bridge, origin).then((found) => ({ model: found ?? ("none" as const) })) : {},
      ]);
      const known = { ...(profile === undefined ? {} : { profile }), ...(reason === undefined ? {} : { reason }), ...(seconds === undefined ? {} : { onceSeconds: seconds }), ...(lack === undefined ? {} : { lack }), ...model };
      if (!ofTools) return { origin, scopes, servers: [], named: false, ...known };
      const view = (asked: Asked) => {
        shown = inOrder(before(asked.servers), shown);
        return { origin, scopes, ...asked, servers: shown, named: tools !== undefined, ...known };
      };
      const found = await askedServers(bridge, tools, (later) => changed(view(later)));
      if (tools !== undefined && onlyTools && found.servers.every((server) => server.tools.length === 0)) throw notHere(tools);
      const first = view(found);
      // What is not here cannot be allowed, and there is nothing else to say yes to.
      return tools !== undefined && scopes.every(isOfTools) && shown.every(isAllowed) ? "settled" : first;
    };
    const asks: Matter["prepare"] = async (changed) => {
      const view = await prepare(changed);
      asked = view !== "settled";
      return view;
    };
    await asking.ask(wish, { prepare: asks, record: (decision) => record(parts, wish, shown, decision) }, signal);
  }
  const after = await grantsOf(bridge, wish);
  const useful = await usable(parts.inTabs.permits, wish.origin, after);
  return { asked, granted: isCovered(wish, useful), ...toldOf(wish.origin, after, useful) };
}

/** Whether the person has nothing to say. Servers that were added since are asked about; where nobody has clicked, what is allowed is enough. */
async function isSettledNow({ bridge, leftOut, inTabs: { permits } }: Parts, wish: PermissionsRequest): Promise<boolean> {
  const grants = await usable(permits, wish.origin, await grantsOf(bridge, wish));
  if (!isSettled(wish, grants)) return false;
  if (wish.tools !== undefined || !wish.gesture || !wish.scopes.some(isOfTools)) return true;
  const [{ servers }, left] = await Promise.all([bridge.request("list_servers", {}), leftOut.of(placeOf(wish))]);
  const today = servers.map(({ server_id }) => `${server_id}/*`).filter((server) => !left.includes(server));
  return isSettled(wish, grants, today);
}

/** What puts beside each tool of a question how it stood before. */
async function beforeOf({ bridge, leftOut }: Parts, wish: PermissionsRequest): Promise<(servers: AskedServer[]) => AskedServer[]> {
  const [grants, left] = await Promise.all([grantsOf(bridge, wish), leftOut.of(placeOf(wish))]);
  const before = (name: string) => {
    if (isAllowedForGood(wish.scopes, name, grants)) return { before: "allowed" as const };
    return wish.tools === undefined && left.includes(name) ? { before: "left out" as const } : {};
  };
  return (servers) => servers.map((server) => ({ ...server, tools: server.tools.map((tool) => ({ ...tool, ...before(tool.name) })) }));
}

/** As they are `shown` already; at first, those where there is nothing to decide come last. */
function inOrder(servers: AskedServer[], shown: AskedServer[]): AskedServer[] {
  const isOpen = ({ tools }: AskedServer) => tools.some((tool) => tool.before !== "allowed");
  const order = shown.length > 0 ? shown : [...servers.filter(isOpen), ...servers.filter((server) => !isOpen(server))];
  return order.flatMap(({ id }) => servers.find((server) => server.id === id) ?? []);
}

/** Whether all of it that can be chosen is allowed for good already, and nothing of it has changed since. */
function isAllowed({ list, tools }: AskedServer): boolean {
  return list === undefined && tools.every(({ before, changed }) => before === "allowed" && changed === undefined);
}

/** Says for all alike what may be wrong: which servers there are is not a page's to find out. */
function notHere(tools: string[]): CodedError {
  const names = tools.slice(0, 8).join(", ") + (tools.length > 8 ? ", …" : "");
  return new CodedError("ERR_TOOL_NOT_FOUND", `not available: ${names}. Install the server first, or check the name of the tool`);
}

async function record(parts: Parts, wish: PermissionsRequest, servers: AskedServer[], decision: Decision): Promise<void> {
  const { bridge, noteTab } = parts;
  // What was granted while the question stood open counts, too.
  const before = await grantsOf(bridge, wish);
  const grants = grantsFor(wish, decision, before);
  if (decision.allow === "once") await noteTab(wish.tab);
  for (const grant of grants) await bridge.request("host_grant_permission", grant);
  for (const revocation of revocationsFor(wish, decision)) await bridge.request("host_revoke_permission", revocation);
  await noteConsent(bridge, wish, servers, decision);
  parts.acted();
  await noteLeftOut(parts, wish, servers, decision, before);
}

/** Has the answer written into the audit log. */
async function noteConsent(bridge: Bridge, { origin, tab, scopes, tools }: PermissionsRequest, servers: AskedServer[], decision: Decision): Promise<void> {
  const outcome = outcomeOf(decision);
  const named = scopes.some(isOfTools) ? (tools ?? servers.map(({ id }) => `${id}/*`)) : [];
  const asked = [...scopes.filter((scope) => !isOfTools(scope)), ...named];
  // The answer holds, whether it can be written down or not: the bridge has granted, or nothing was granted.
  await bridge
    .request("host_note_consent", { origin, tab_id: tab, outcome, tools: asked })
    .catch((error) => console.error("an answer is not in the audit log", error));
}

/** A denial of more leaves out what there was more; one of everything only says not now. */
async function noteLeftOut({ leftOut }: Parts, wish: PermissionsRequest, servers: AskedServer[], decision: Decision, before: Grant[]): Promise<void> {
  if (decision.allow === "no" && !isCovered({ scopes: wish.scopes }, before)) return;
  const asked = servers.flatMap(({ tools }) => tools).filter((tool) => tool.before !== "allowed" && tool.name.endsWith("/*"));
  const shown = wish.tools === undefined ? asked.map(({ name }) => name) : [];
  await leftOut.note(placeOf(wish), shown, decision.allow === "no" ? [] : decision.tools);
}
