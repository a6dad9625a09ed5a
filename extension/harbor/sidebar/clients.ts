// Which servers and browsers an AI client may use, and how its list of tools changes where the person switches one.
//
// Pure. Must never name another origin than a client's: what a web page may do is decided on the page of a question.

import type { Fields } from "../../shared/ports/wire.ts";
import { CodedError } from "../../shared/protocol/codes.ts";
import type { Grant } from "../../shared/protocol/generated/messages.ts";

/** What the sidebar asks of the background itself: which tools a client gets from now on. */
export const CLIENT_TOOLS = "client_tools";

/** In a list: every tool of every server, and of nothing else. */
const EVERY = "*";

const BROWSER = "browser";

export interface ClientTools {
  origin: string;
  tools: string[];
}

export function isClient(origin: string): boolean {
  return /^client:\/\/[^\s/?#]{1,128}$/.test(origin);
}

/** Reads such a request. Throws ERR_INVALID_REQUEST. */
export function parseClientTools({ origin, tools }: Fields): ClientTools {
  if (typeof origin !== "string" || !isClient(origin)) throw new CodedError("ERR_INVALID_REQUEST", "origin must be client://NAME");
  const isList = Array.isArray(tools) && tools.length <= 1_000 && tools.every((tool) => typeof tool === "string" && tool.length <= 600);
  if (!isList) throw new CodedError("ERR_INVALID_REQUEST", "tools must be a list of at most 1,000 tools");
  return { origin, tools: tools as string[] };
}

/** The tools that a client was given for good; `undefined`: it was given none, and so there is nothing to switch. */
export function toolsOf(origin: string, grants: Grant[]): string[] | undefined {
  const mine = grants.find((grant) => grant.origin === origin && grant.scope === "mcp:tools.call" && grant.grant_type === "ALLOW_ALWAYS");
  return mine === undefined ? undefined : (mine.allowed_tools ?? [EVERY]);
}

/** The browsers that a client may be given or has: this one, where its tools are on, and those that a list names. */
export function browsersOf(tools: string[], here: string | undefined): string[] {
  const named = tools.map(serverOf).filter((source) => source === BROWSER || source.startsWith(`${BROWSER}:`));
  return [...new Set([...(here === undefined ? [] : [here]), ...named])].sort();
}

/** Every server is one; a browser, and whatever else has a kind before its name, is none. */
const isServer = (source: string): boolean => source !== BROWSER && !source.includes(":");

/** What of a server or a browser a list covers: all of it, nothing, or so many of its tools. */
export function coverOf(tools: string[], server: string): "all" | number {
  if ((tools.includes(EVERY) && isServer(server)) || tools.includes(`${server}/*`)) return "all";
  return tools.filter((tool) => serverOf(tool) === server).length;
}

/** The list with a server or a browser switched on or off. One of all servers, where it is a server, becomes one of those that there are. */
export function switched(tools: string[], servers: string[], server: string, on: boolean): string[] {
  const all = tools.includes(EVERY) && isServer(server) ? [...tools.filter((tool) => tool !== EVERY), ...servers.map((one) => `${one}/*`)] : tools;
  const others = all.filter((tool) => serverOf(tool) !== server);
  return [...new Set(on ? [...others, `${server}/*`] : others)].sort();
}

/** The list with one tool switched. `all`: the names of all tools that its server has now. */
export function switchedTool(tools: string[], servers: string[], tool: string, all: string[], on: boolean): string[] {
  const server = serverOf(tool);
  const isWhole = coverOf(tools, server) === "all";
  // One less than all of them: the others by name, and none that comes later.
  const mine = isWhole ? all : tools.filter((one) => serverOf(one) === server);
  const rest = switched(tools, servers, server, false);
  const after = on ? [...mine, tool] : mine.filter((one) => one !== tool);
  return [...new Set([...rest, ...after])].sort();
}

function serverOf(tool: string): string {
  return tool.split("/")[0] ?? "";
}
