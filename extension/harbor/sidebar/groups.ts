// In which groups servers are listed: what needs the person, what runs, what is ready, what is stopped.
//
// Pure. Must never have one under the pointer jump: what the person starts or stops stays in its group until they come back.

import type { Server } from "../../shared/protocol/generated/messages.ts";
import { standingOf } from "./words.ts";

const GROUPS = ["needs", "running", "ready", "stopped"] as const;
export type Group = (typeof GROUPS)[number];

export const GROUP_WORDS: { [group in Group]: string } = { needs: "Needs you", running: "Running", ready: "Ready", stopped: "Stopped" };

type Missing = { [server: string]: string[] };

/** Where a server belongs now. */
export function groupOf(server: Server, missing: Missing = {}): Group {
  const { tone, wants } = standingOf(server, missing[server.server_id]);
  if (wants !== undefined || tone === "bad" || tone === "warn") return "needs";
  if (["running", "starting", "stopping", "installing"].includes(server.state)) return "running";
  return server.shown_state === "ready" ? "ready" : "stopped";
}

/** The groups that have servers. In the first one what has failed comes before what waits; else the order stays. */
export function grouped(servers: Server[], missing: Missing, held: { [server: string]: Group }): [Group, Server[]][] {
  const of = (server: Server) => held[server.server_id] ?? groupOf(server, missing);
  const weight = (server: Server) => (standingOf(server, missing[server.server_id]).tone === "bad" ? 0 : 1);
  return GROUPS.map((group): [Group, Server[]] => {
    const mine = servers.filter((server) => of(server) === group);
    return [group, group === "needs" ? mine.sort((one, other) => weight(one) - weight(other)) : mine];
  }).filter(([, mine]) => mine.length > 0);
}

/** How many need the person. */
export function needing(servers: Server[] | undefined, missing: Missing): number {
  return (servers ?? []).filter((server) => groupOf(server, missing) === "needs").length;
}
