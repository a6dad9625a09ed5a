// Which tools a question is about, by server, with what has changed since the person last saw them.
//
// Pure but for the bridge that it asks. Must never show more than the question is about, or take a server's word for a tool's name.

import type { NativeClient } from "../shared/native/client.ts";
import type { Server, ToolChange } from "../shared/protocol/generated/messages.ts";
import { isFields } from "../shared/ports/wire.ts";
import { MOST } from "../shared/text/visible.ts";
import { isLazy } from "./lazy.ts";
import type { AskedServer, AskedTool, ChangedPart } from "./own.ts";
import { type Line, type PartChange, changedParts } from "./sidebar/diff.ts";

type Bridge = Pick<NativeClient, "request">;

/** How many tools of one server are listed. What is beyond is covered by its line for all. */
const MOST_LISTED = 200;

/** What a question shows. `wanted`: the tools that the site has named; absent: all servers' tools. */
export async function askedServers(bridge: Bridge, wanted: string[] | undefined): Promise<AskedServer[]> {
  const [{ servers }, { changes }] = await Promise.all([
    bridge.request("list_servers", {}),
    bridge.request("host_list_tool_changes", {}),
  ]);
  const ids = wanted === undefined ? servers.map((server) => server.server_id) : [...new Set(wanted.map(serverOf))];
  return Promise.all(
    ids.map(async (id) => {
      const server = servers.find((one) => one.server_id === id);
      const known = server === undefined ? [] : await toolsOf(bridge, id);
      return asked(id, server, known, wanted?.filter((name) => serverOf(name) === id), changes);
    }),
  );
}

/** The tools of one server, as the person sees them in a question. */
export function asked(
  id: string,
  server: Server | undefined,
  known: AskedTool[],
  wanted: string[] | undefined,
  changes: ToolChange[],
): AskedServer {
  const names = wanted ?? [`${id}/*`];
  const all = names.includes(`${id}/*`);
  const listed = all ? known.slice(0, MOST_LISTED) : names.map((name) => known.find((tool) => tool.name === name) ?? { name });
  const tools = listed.map((tool) => withChange(tool, id, changes));
  const found: AskedServer = { id, label: server?.label ?? id, tools: all ? [{ name: `${id}/*` }, ...tools] : tools };
  if (server !== undefined) found.state = server.state;
  if (server !== undefined && isLazy(server)) found.lazy = true;
  return found;
}

function withChange(tool: AskedTool, id: string, changes: ToolChange[]): AskedTool {
  const change = changes.find((one) => one.server_id === id && `${id}/${one.tool_name}` === tool.name);
  if (change === undefined) return tool;
  const { before, after, blocked, hidden_characters: hidden } = change;
  return { ...tool, changed: { parts: changedParts(before, after).map(shownPart), blocked }, ...(hidden ? { hidden } : {}) };
}

async function toolsOf(bridge: Bridge, id: string): Promise<AskedTool[]> {
  // A server that cannot be asked is shown without its tools: the question does not wait for it to be repaired.
  const signal = AbortSignal.timeout(5_000);
  const reply = await bridge.request("mcp_list_tools", { server_id: id }, { signal }).catch(() => undefined);
  return parseTools(id, reply?.tools);
}

/** Reads what a server wrote. */
export function parseTools(id: string, tools: unknown): AskedTool[] {
  if (!Array.isArray(tools)) return [];
  return tools.filter(isFields).flatMap(({ name, title, description }) => {
    if (typeof name !== "string" || name === "") return [];
    const tool: AskedTool = { name: `${id}/${name}` };
    if (typeof title === "string") tool.title = title;
    if (typeof description === "string") tool.description = description;
    return [tool];
  });
}

/** Texts whole; of anything else the lines that differ, since it may be long, and alike but for one of them. */
function shownPart({ part, before, after, lines }: PartChange): ChangedPart {
  if (part === "title" || part === "description") return { part, before: cut(before), after: cut(after) };
  const of = (sign: Line["sign"]) => lines.flatMap((line) => (line.sign === sign ? [line.text.trim()] : [])).join(" ");
  return { part, before: cut(of("-")), after: cut(of("+")) };
}

/** More than a question shows of any text. */
function cut(text: string): string {
  return text.slice(0, 3 * MOST);
}

function serverOf(name: string): string {
  return name.slice(0, name.indexOf("/"));
}
