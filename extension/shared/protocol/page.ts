// What goes between a page's world and the content script, by window.postMessage.
//
// Owns the channel's name and the forms. The page can forge all of it: whoever reads here looks at every field, and what
// comes back tells a page nothing but its own answers.

import type { Failure } from "./codes.ts";

/** Marks our messages among those of the page. */
export const CHANNEL = "harbor_web_agent";

/** What a page may ask for. */
export const PAGE_REQUESTS = ["request_permissions", "permissions", "capabilities", "list", "call"] as const;
export type PageRequestType = (typeof PAGE_REQUESTS)[number];

/** From the page. */
export type FromPage =
  | { channel: typeof CHANNEL; to: "extension"; id: number; type: PageRequestType; payload: unknown }
  | { channel: typeof CHANNEL; to: "extension"; cancel: number };

/** To the page: what came of a request, or that somebody begins to carry requests, by a name of its own. */
export type ToPage =
  | ({ channel: typeof CHANNEL; to: "page"; id: number } & ({ result: unknown } | { error: Failure } | { progress: unknown }))
  | { channel: typeof CHANNEL; to: "page"; carrier: string };

/** The largest arguments of a call, in characters of JSON: with what stands around them they fit a frame of 1 MiB. */
export const MAX_ARGS = 300_000;

/** How deep arguments may be nested: beyond any form of a tool, and far below what programs on the way cannot copy. */
export const MAX_DEPTH = 1_000;

/** Whether a JSON text is nested deeper. Uses no built-in, so that it holds in the page's world, too. */
export function isDeep(json: string): boolean {
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < json.length; at += 1) {
    const letter = json[at];
    if (quoted) {
      if (letter === "\\") at += 1;
      else if (letter === '"') quoted = false;
    } else if (letter === '"') quoted = true;
    else if (letter === "[" || letter === "{") {
      depth += 1;
      if (depth > MAX_DEPTH) return true;
    } else if (letter === "]" || letter === "}") depth -= 1;
  }
  return false;
}
