// Which parts of the page API the person's configuration switches off for all pages.
//
// Pure but for the bridge that it asks. Must never switch anything off or on: the bridge does that itself, at each request.

import type { NativeClient } from "../shared/native/client.ts";

/** By their names. */
export async function offIn(bridge: Pick<NativeClient, "request">): Promise<string[]> {
  return parseOff((await bridge.request("get_config", {})).config);
}

/** Reads what is off in the `config.toml` that the bridge shows. */
export function parseOff(config: unknown): string[] {
  const [, pages = ""] = typeof config === "string" ? (/^\[pages\]$([^[]*)/m.exec(config) ?? []) : [];
  return [...pages.matchAll(/^(\w+) = false$/gm)].flatMap(([, name]) => name ?? []);
}
