// What a question says in plain words.
//
// Pure. Must never promise what the bridge does not hold.

import type { Scope } from "../../shared/protocol/peer.ts";

/** What a scope lets a site do. */
export const SCOPE_WORDS: { [scope in Scope]: string } = {
  "mcp:tools.list": "see which of these tools you have, and what they say about themselves",
  "mcp:tools.call": "use these tools: give them data of its own, and read what they answer. What a tool does is up to its server",
};

/** The state of a server in a question. `lazy`: a call starts it, unless the person has stopped it. */
export function stateWords(state: string, lazy = false): string {
  if (state === "running") return "running";
  if (state === "failed") return "does not work at present";
  if (state === "starting" || state === "installing") return "starting";
  return lazy && state !== "crashed" ? "not running; using it starts it, unless you have stopped it" : "not running";
}

/** Whether a server is left in before the person has chosen: not where nothing of it can be used. */
export function isLeftIn(state: string): boolean {
  return state !== "failed";
}

/** Why nothing can be allowed. */
export const NOTHING_CHOSEN = "Nothing is ticked: there is nothing to allow.";

/** Below the buttons: what the middle one means. */
export function onceWords(seconds: number | undefined): string {
  return `Once: in this tab, for ${seconds === undefined ? "a short time" : durationWords(seconds)}`;
}

function durationWords(seconds: number): string {
  const [size, unit] = seconds % 3_600 === 0 ? [3_600, "hour"] : seconds % 60 === 0 ? [60, "minute"] : [1, "second"];
  const many = seconds / Number(size);
  return `${many} ${unit}${many === 1 ? "" : "s"}`;
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
