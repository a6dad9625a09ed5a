// Whether a call starts a server, and how that is said.
//
// Pure. Must never promise a start that the bridge does not make: what a person has stopped, no call starts.

import type { Server } from "../shared/protocol/generated/messages.ts";

export function isLazy({ supervision }: Pick<Server, "supervision">): boolean {
  return supervision.lazy !== false;
}

/** Below the switch. */
export function lazyWords(server: Pick<Server, "supervision">): string {
  if (isLazy(server)) return "One that you stop yourself stays stopped until you start it.";
  return "Sites and AI clients see its tools only while it runs.";
}

/** Of a server that has just come, and does not run yet. */
export function comingWords(server: Pick<Server, "supervision">): string {
  return isLazy(server) ? "A site's call starts it." : "Sites can use it once it is started.";
}

/** Where its tools are tried out, and it does not run. */
export function startWords(server: Pick<Server, "supervision" | "state">): string {
  if (server.state === "starting" || server.state === "installing") return "The server starts.";
  if (server.state === "crashed") return "The server has ended, and is started again by itself.";
  const byCall = isLazy(server) && server.state !== "failed";
  return byCall ? "The server does not run. A call starts it, unless you have stopped it." : "The server does not run: start it first.";
}
