// What a question says in plain words.
//
// Pure. Must never promise what the bridge does not hold.

import type { Scope } from "../../shared/protocol/peer.ts";

/** What a scope lets a site do. */
export const SCOPE_WORDS: { [scope in Scope]: string } = {
  "mcp:tools.list": "see which of these tools you have, and what they say about themselves",
  "mcp:tools.call": "use these tools: give them data of its own, and read what they answer. What a tool does is up to its server",
};

/** The state of a server in a question. */
export function stateWords(state: string): string {
  if (state === "running") return "running";
  if (state === "failed") return "does not work at present";
  return "not running; using it starts it";
}

/** Of a server whose tools are not known. */
export function listWords(list: "awaited" | "missing", named: boolean): string {
  const words = list === "awaited" ? "It has not said yet which tools it has" : "It does not say now which tools it has";
  return named ? `${words}: these names are the site's.` : `${words}.`;
}

/** Around the names that the site asks for and a server does not have. */
export const STRANGE_WORDS = ["The site also asks for names that ", " does not have: "] as const;

/** Around the servers that it asks for and that are not there. */
export const MISSING_WORDS = ["The site also asks for ", ", which is not installed here: install it first. Nothing of it is allowed now."] as const;

/** Above the tools. */
export function toolsHead(named: boolean): string {
  return named ? "Of these tools" : "Of all tools of these servers";
}

export function toolsNote(named: boolean): string {
  if (named) return "The site has named them. Take out what it shall not have.";
  return "The site has named none. Take out the servers that it shall not have; what a server has later is part of it.";
}
