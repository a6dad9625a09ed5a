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

/** To the page. */
export type ToPage = { channel: typeof CHANNEL; to: "page"; id: number } & (
  | { result: unknown }
  | { error: Failure }
  | { progress: unknown }
);

/** The largest arguments of a call, in characters of JSON: with what stands around them they fit a frame of 1 MiB. */
export const MAX_ARGS = 300_000;
