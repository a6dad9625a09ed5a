// What grants of the bridge mean to a page, and which grants an answer of the person makes.
//
// Pure. Must never decide whether a call goes through: the bridge does, at each call.

import type { Grant, Requests } from "../shared/protocol/generated/messages.ts";
import type { GrantWord, PermissionsRequest, PermissionsView, Scope } from "../shared/protocol/peer.ts";
import { SCOPES, isOfTools } from "../shared/protocol/peer.ts";

/** What the person says. */
export type Decision =
  | { allow: "once" | "always"; tools: string[]; answer?: string }
  /** `remember`: until the person takes it back. `dismissed`: the question was closed without an answer. */
  | { allow: "no"; remember: boolean; dismissed?: true; answer?: string };

/** How a question ended, as the audit log has it. */
export function outcomeOf(decision: Decision): "allowed" | "denied" | "dismissed" {
  if (decision.allow !== "no") return "allowed";
  return decision.dismissed === true ? "dismissed" : "denied";
}

/** What a page may, by the grants of its origin. */
export function viewOf(origin: string, grants: Grant[]): PermissionsView {
  const scopes = Object.fromEntries(SCOPES.map((scope) => [scope, wordOf(scope, grants)])) as PermissionsView["scopes"];
  const calls = allowing("mcp:tools.call", grants);
  const view: PermissionsView = { origin, scopes };
  if (calls.length === 0 || calls.some((grant) => grant.allowed_tools === undefined)) return view;
  return { ...view, allowedTools: [...new Set(calls.flatMap((grant) => grant.allowed_tools ?? []))] };
}

/** Whether nothing of this has to be asked any more: all of it is allowed, or some of it denied for good. */
export function isSettled(wish: Pick<PermissionsRequest, "scopes" | "tools">, grants: Grant[], servers: string[] = []): boolean {
  return isDenied(wish.scopes, grants) || isCovered(wish, grants, servers);
}

export function isDenied(scopes: Scope[], grants: Grant[]): boolean {
  return scopes.some((scope) => wordOf(scope, grants) === "denied");
}

/**
 * Whether all of this is allowed. Who names no tools wants those of all `servers` (each as `server/*`): today's, since one may have been
 * added after the person was asked.
 */
export function isCovered({ scopes, tools }: Pick<PermissionsRequest, "scopes" | "tools">, grants: Grant[], servers: string[] = []): boolean {
  if (isDenied(scopes, grants)) return false;
  return scopes.every((scope) => {
    const found = allowing(scope, grants);
    return found.length > 0 && (!isOfTools(scope) || (tools ?? servers).every((tool) => found.some((grant) => covers(grant, tool))));
  });
}

/** Whether a question about these scopes has nothing to add for a tool. What is allowed once may become always. */
export function isAllowedForGood(scopes: Scope[], tool: string, grants: Grant[]): boolean {
  const always = grants.filter(({ grant_type }) => grant_type !== "ALLOW_ONCE");
  return isCovered({ scopes: scopes.filter(isOfTools), tools: [tool] }, always);
}

/** The grants that are to be made. What was allowed in the same way before stays allowed. */
export function grantsFor(wish: PermissionsRequest, decision: Decision, before: Grant[]): Requests["host_grant_permission"][] {
  const { origin, tab } = wish;
  if (decision.allow === "no") {
    if (!decision.remember) return [];
    return wish.scopes.map((scope) => ({ origin, scope, grant_type: "DENY" }));
  }
  const once = decision.allow === "once";
  const grant_type = once ? "ALLOW_ONCE" : "ALLOW_ALWAYS";
  // Where no tool is ticked, none is allowed, and nothing has to start for it; what the site may ask a model is another matter.
  const ofTicks = (scope: Scope) => isOfTools(scope) || (scope === "mcp:server.connect" && wish.scopes.some(isOfTools));
  const scopes = wish.scopes.filter((scope) => !ofTicks(scope) || decision.tools.length > 0);
  return scopes.map((scope) => {
    const same = before.filter(
      (grant) => grant.scope === scope && grant.grant_type === grant_type && (!once || grant.tab_id === tab),
    );
    const grant: Requests["host_grant_permission"] = { origin, scope, grant_type };
    if (once) grant.tab_id = tab;
    if (!isOfTools(scope)) return grant;
    if (same.some((old) => old.allowed_tools === undefined)) return grant;
    grant.allowed_tools = [...new Set([...same.flatMap((old) => old.allowed_tools ?? []), ...decision.tools])];
    return grant;
  });
}

/** What a denial for good takes back: else it would hold again as soon as asking is allowed again. */
export function revocationsFor({ origin, scopes }: PermissionsRequest, decision: Decision): Requests["host_revoke_permission"][] {
  if (decision.allow !== "no" || !decision.remember) return [];
  return scopes.flatMap((scope) => ["ALLOW_ALWAYS", "ALLOW_ONCE"].map((grant_type) => ({ origin, scope, grant_type })));
}

function wordOf(scope: Scope, grants: Grant[]): GrantWord {
  const types = grants.filter((grant) => grant.scope === scope).map((grant) => grant.grant_type);
  if (types.includes("DENY")) return "denied";
  if (types.includes("ALLOW_ALWAYS")) return "granted-always";
  return types.includes("ALLOW_ONCE") ? "granted-once" : "not-granted";
}

function allowing(scope: Scope, grants: Grant[]): Grant[] {
  return grants.filter((grant) => grant.scope === scope && grant.grant_type !== "DENY");
}

function covers({ allowed_tools }: Grant, tool: string): boolean {
  if (allowed_tools === undefined) return true;
  return allowed_tools.includes(tool) || allowed_tools.includes(`${tool.slice(0, tool.indexOf("/"))}/*`);
}
