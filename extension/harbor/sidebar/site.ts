// What the site in the tab beside the panel may do now, and how that is said.
//
// Pure. Must never say more than grants hold: a denial holds over whatever else there is.

import { DEFAULT_PROFILE } from "../../shared/origins/profile.ts";
import type { Grant, Server } from "../../shared/protocol/generated/messages.ts";
import { count } from "./words.ts";

/** The page beside the panel. */
export interface Site {
  origin: string;
  tab: number;
  /** The profile of the browser that its tab is in; absent: the default one. */
  profile?: string;
}

export interface Access {
  is: "none" | "blocked" | "allowed";
  /** How many tools it may call; absent where some server has not said how many it has. */
  tools?: number;
  /** Whether these are all tools of all servers. */
  every?: true;
  /** Whether it may use a model. */
  model?: true;
  /** When the first of its grants ends, in milliseconds since 1970. */
  ends?: number;
}

const CALL = "mcp:tools.call";

type Known = Pick<Server, "server_id" | "tool_count">;

/** The grants that count for a page: its origin's in its profile, for all tabs or its own. */
export function grantsOf({ origin, tab, profile = DEFAULT_PROFILE }: Site, grants: Grant[]): Grant[] {
  return grants.filter((grant) => grant.origin === origin && grant.profile === profile && (grant.tab_id === undefined || grant.tab_id === tab));
}

export function accessOf(site: Site, grants: Grant[], servers: Known[]): Access {
  return accessBy(grantsOf(site, grants), servers);
}

/** What these grants, all of one origin, come to. */
export function accessBy(mine: Grant[], servers: Known[]): Access {
  const denied = new Set(mine.filter(({ grant_type }) => grant_type === "DENY").map(({ scope }) => scope));
  const allowing = mine.filter(({ grant_type, scope }) => grant_type !== "DENY" && !denied.has(scope));
  if (allowing.length === 0) return { is: denied.size > 0 ? "blocked" : "none" };
  const calls = allowing.filter(({ scope }) => scope === CALL);
  const tools = toolsOf(calls, servers);
  const every = calls.some(isOfAll) ? { every: true as const } : {};
  // What is allowed for good as well does not end.
  const lasting = allowing.filter(({ expires_at }) => expires_at === undefined).map(({ scope }) => scope);
  const ends = allowing.filter(({ scope }) => !lasting.includes(scope)).flatMap(({ expires_at }) => expires_at ?? []);
  const model = allowing.some(({ scope }) => scope === "model:prompt") ? { model: true as const } : {};
  return { is: "allowed", ...every, ...model, ...(tools === undefined ? {} : { tools }), ...(ends.length === 0 ? {} : { ends: Math.min(...ends) }) };
}

/** A client's list may name all servers by one sign. */
const isOfAll = ({ allowed_tools }: Grant): boolean => allowed_tools === undefined || allowed_tools.includes("*");

function toolsOf(calls: Grant[], servers: Known[]): number | undefined {
  const all = calls.some(isOfAll);
  const names = new Set(calls.flatMap(({ allowed_tools = [] }) => allowed_tools.filter((one) => one !== "*")));
  const isWhole = (id: string) => all || names.has(`${id}/*`);
  const counts = servers.filter(({ server_id }) => isWhole(server_id)).map(({ tool_count }) => tool_count);
  if (counts.includes(undefined)) return undefined;
  const single = [...names].filter((name) => !name.endsWith("/*") && !isWhole(name.slice(0, name.indexOf("/"))));
  return counts.reduce<number>((sum, one) => sum + (one ?? 0), 0) + single.length;
}

/** One line below the site's address. */
export function accessWords({ is, tools, model, ends }: Access, now: number): string {
  if (is === "none") return "No access to your tools";
  if (is === "blocked") return "Blocked: it can't ask for your tools";
  const ofTools = tools === undefined ? "May use your tools" : tools === 0 ? "May see which tools you have" : `May use ${count(tools, "tool")}`;
  const what = model === undefined ? ofTools : tools === 0 ? "May use your language model" : `${ofTools} and your language model`;
  return ends === undefined ? what : `${what}, ${leftWords(ends - now)} left`;
}

/** The same in a few words, where the name of the app or site stands above. */
export function shortWords({ is, tools, every, model, ends }: Access, now: number): string {
  if (is === "none") return "no access";
  if (is === "blocked") return "blocked";
  const ofTools = every ? "all tools" : tools === undefined ? "your tools" : tools === 0 ? (model === undefined ? "sees your tools" : "") : count(tools, "tool");
  const what = [ofTools, model === undefined ? "" : "your model"].filter((one) => one !== "").join(" and ");
  return ends === undefined ? what : `${what}, ${leftWords(ends - now)} left`;
}

function leftWords(ms: number): string {
  if (ms < 60_000) return "less than 1 min";
  const minutes = Math.round(ms / 60_000);
  if (minutes < 90) return `${minutes} min`;
  return `${Math.round(minutes / 60)} h`;
}

/** An address without what goes without saying. */
export function hostOf(origin: string): string {
  return origin.replace(/^(https?|client):\/\//, "");
}

/** Origins that have access now, each with the tab that it is bound to; for the mark in the toolbar. */
export function hasAccess(site: Site, grants: Grant[]): boolean {
  return accessOf(site, grants, []).is === "allowed";
}
