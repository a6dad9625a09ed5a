// Whether a call starts a server, and how that is said.
//
// Pure. Must never promise a start that the bridge does not make: what a person has stopped, no call starts.

import type { Server } from "../shared/protocol/generated/messages.ts";

export function isLazy({ supervision }: Pick<Server, "supervision">): boolean {
  return supervision.lazy !== false;
}

/** Below the switch. */
export function lazyWords(server: Pick<Server, "supervision">): string {
  if (isLazy(server)) return "If you stop it yourself, it stays stopped until you start it.";
  return "Sites and AI clients see its tools only while it runs.";
}

/** Of a server that has just come, and does not run yet. */
export function comingWords(server: Pick<Server, "supervision">): string {
  return isLazy(server) ? "Starts automatically when used." : "Start it so that sites and AI clients can use it.";
}

/** Where its tools are tried out, and it does not run. */
export function startWords(server: Pick<Server, "supervision" | "state">): string {
  if (server.state === "starting" || server.state === "installing") return "The server is starting.";
  if (server.state === "crashed") return "The server ended. It restarts automatically.";
  const byCall = isLazy(server) && server.state !== "failed";
  return byCall ? "The server is not running. A call starts it, unless you stopped it." : "The server is not running. Start it first.";
}
