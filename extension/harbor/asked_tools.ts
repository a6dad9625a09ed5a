// Which tools a question is about, by server, with what has changed since the person last saw them.
//
// Pure but for the bridge that it asks. Must never show more than the question is about, take a server's word for a tool's name, or let
// a name that a site has made up stand as a tool.

import type { NativeClient } from "../shared/native/client.ts";
import type { Server, ToolChange } from "../shared/protocol/generated/messages.ts";
import { isFields } from "../shared/ports/wire.ts";
import { MOST } from "../shared/text/visible.ts";
import { isLazy } from "./lazy.ts";
import type { AskedServer, AskedTool, ChangedPart, QuestionView } from "./own.ts";
import { type Line, type PartChange, changedParts } from "./sidebar/diff.ts";

type Bridge = Pick<NativeClient, "request">;

/** How many tools of one server are listed. What is beyond is covered by its line for all. */
const MOST_LISTED = 200;

/** How long a question waits for servers to say which tools they have, and how long each may take. */
const PATIENCE_MS = 500;
const ANSWER_MS = 5_000;

/** What a server says that it has, or why it is not known. */
type List = AskedTool[] | "awaited" | "missing";

export type Asked = Pick<QuestionView, "servers"> & { missing: string[] };

/**
 * What a question shows at once, and by `changed` again with each list that comes later. `wanted`: the tools that the site has
 * named; absent: all servers' tools.
 */
export async function askedServers(
  bridge: Bridge,
  wanted: string[] | undefined,
  changed: (asked: Asked) => void,
  patience = () => new Promise<void>((resolve) => setTimeout(resolve, PATIENCE_MS)),
): Promise<Asked> {
  const [{ servers }, { changes }] = await Promise.all([
    bridge.request("list_servers", {}),
    bridge.request("host_list_tool_changes", {}),
  ]);
  const ids = wanted === undefined ? servers.map((server) => server.server_id) : [...new Set(wanted.map(serverOf))];
  const found = ids.flatMap((id) => servers.find((server) => server.server_id === id) ?? []);
  const missing = ids.filter((id) => !found.some((server) => server.server_id === id));
  const lists = new Map<string, List>();
  const now = (): Asked => ({
    servers: found.map((server) => {
      const id = server.server_id;
      return asked(server, lists.get(id) ?? "awaited", wanted?.filter((name) => serverOf(name) === id), changes);
    }),
    missing,
  });
  let shown = false;
  const all = found.map(async ({ server_id: id }) => {
    lists.set(id, await listOf(bridge, id));
    if (shown) changed(now());
  });
  await Promise.race([Promise.all(all), patience()]);
  shown = true;
  return now();
}

/** The tools of one server, as the person sees them in a question. */
export function asked(server: Server, list: List, wanted: string[] | undefined, changes: ToolChange[]): AskedServer {
  const { server_id: id, label, state } = server;
  const every = `${id}/*`;
  const all = wanted === undefined || wanted.includes(every);
  const names = (wanted ?? []).filter((name) => name !== every);
  const known = Array.isArray(list) ? list : names.map((name) => ({ name }));
  const listed = all && Array.isArray(list) ? list.slice(0, MOST_LISTED) : names.flatMap((name) => known.find((tool) => tool.name === name) ?? []);
  const tools = listed.map((tool) => withChange(tool, id, changes));
  const strange = names.filter((name) => !known.some((tool) => tool.name === name)).map((name) => name.slice(id.length + 1));
  return {
    ...{ id, label, state, tools: all ? [{ name: every }, ...tools] : tools },
    ...(isLazy(server) ? { lazy: true } : {}),
    ...(strange.length > 0 ? { strange } : {}),
    ...(all && known.length > listed.length && Array.isArray(list) ? { unlisted: known.length - listed.length } : {}),
    ...(Array.isArray(list) ? {} : { list }),
  };
}

function withChange(tool: AskedTool, id: string, changes: ToolChange[]): AskedTool {
  const change = changes.find((one) => one.server_id === id && `${id}/${one.tool_name}` === tool.name);
  if (change === undefined) return tool;
  const { before, after, blocked, hidden_characters: hidden } = change;
  return { ...tool, changed: { parts: changedParts(before, after).map(shownPart), blocked }, ...(hidden ? { hidden } : {}) };
}

async function listOf(bridge: Bridge, id: string): Promise<List> {
  // A server that cannot be asked is shown without its tools: the question does not wait for it to be repaired.
  const signal = AbortSignal.timeout(ANSWER_MS);
  const reply = await bridge.request("mcp_list_tools", { server_id: id }, { signal }).catch(() => undefined);
  return reply === undefined ? "missing" : parseTools(id, reply.tools, reply.effects);
}

/** Reads what a server wrote. */
export function parseTools(id: string, tools: unknown, effects: unknown = {}): AskedTool[] {
  if (!Array.isArray(tools)) return [];
  return tools.filter(isFields).flatMap(({ name, title, description }) => {
    if (typeof name !== "string" || name === "") return [];
    const tool: AskedTool = { name: `${id}/${name}` };
    if (typeof title === "string") tool.title = title;
    if (typeof description === "string") tool.description = description;
    const effect = isFields(effects) ? effects[name] : undefined;
    if (effect === "reads" || effect === "writes" || effect === "destroys") tool.effect = effect;
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
