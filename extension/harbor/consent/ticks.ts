// Which boxes of a question are ticked, and what is allowed by that.
//
// Pure. Must never tick in advance what is not known to only read, or what has changed since the person accepted it; nor choose all
// tools of a server while one of them is unticked: `server/*` would allow that one, too.

import type { AskedServer, AskedTool } from "../own.ts";
import { isLeftIn } from "./words.ts";

/** By a tool's name. The box for all tools of a server has an entry only where not all single ones are known, and the person has pressed it. */
export type Ticks = ReadonlyMap<string, boolean>;

export type EveryState = "on" | "some" | "off";

export const everyOf = (id: string): string => `${id}/*`;

/** Whether the person has to look at it before it is allowed. */
export function isFlagged({ changed }: AskedTool): boolean {
  return changed !== undefined;
}

/** Whether the box for all tools stands for more than those with a box of their own: then only the person ticks it. */
function standsForMore(server: AskedServer): boolean {
  return server.unlisted !== undefined || singlesOf(server).length === 0;
}

/** The tools that have a box of their own. */
export function singlesOf({ id, tools }: AskedServer): AskedTool[] {
  return tools.filter(({ name }) => name !== everyOf(id));
}

/** The ticks of a question: those of `before` where the person has seen the box, else as it begins. */
export function ticksOf(servers: AskedServer[], before: Ticks = new Map()): Ticks {
  const ticks = new Map<string, boolean>();
  for (const server of servers) {
    const every = server.tools.find(({ name }) => name === everyOf(server.id));
    const begins = isLeftIn(server.state) && every?.before !== "left out";
    const all = every?.before === "allowed" ? true : before.get(everyOf(server.id));
    for (const tool of singlesOf(server)) {
      const mild = all === true ? tool.effect !== "destroys" : tool.effect === "reads";
      const first = (all ?? begins) && mild && tool.before !== "left out" && !isFlagged(tool);
      ticks.set(tool.name, tool.before === "allowed" || (before.get(tool.name) ?? first));
    }
    if (every !== undefined && all !== undefined && standsForMore(server)) ticks.set(every.name, all);
  }
  return ticks;
}

/** How the box for all tools of a server stands. */
export function everyState(server: AskedServer, ticks: Ticks): EveryState {
  const singles = singlesOf(server);
  if (singles.length === 0) return ticks.get(everyOf(server.id)) === true ? "on" : "off";
  const on = singles.filter(({ name }) => ticks.get(name) === true).length;
  const isWhole = on === singles.length && (!standsForMore(server) || ticks.get(everyOf(server.id)) === true);
  return isWhole ? "on" : on > 0 ? "some" : "off";
}

/** The person has pressed a box. That for all leaves tools that have changed as they are. */
export function turned(servers: AskedServer[], ticks: Ticks, name: string): Ticks {
  const server = servers.find(({ id }) => name === everyOf(id));
  const after = new Map(ticks);
  const singles = server === undefined ? [] : singlesOf(server).filter(({ before }) => before !== "allowed");
  if (singles.length === 0) return after.set(name, ticks.get(name) !== true);
  const plain = singles.filter((tool) => !isFlagged(tool));
  const more = server !== undefined && standsForMore(server);
  const on = plain.some((tool) => ticks.get(tool.name) !== true) || (more && ticks.get(name) !== true);
  if (more) after.set(name, on);
  for (const tool of on ? plain : singles) after.set(tool.name, on);
  return after;
}

/** What the person has left in, besides what is allowed already. */
export function chosenOf(servers: AskedServer[], ticks: Ticks): string[] {
  return servers.flatMap((server) => {
    const every = server.tools.find(({ name }) => name === everyOf(server.id));
    if (every?.before === "allowed") return [];
    if (every !== undefined && everyState(server, ticks) === "on") return [every.name];
    return singlesOf(server).flatMap(({ name, before }) => (before !== "allowed" && ticks.get(name) === true ? [name] : []));
  });
}
