// How long "once" holds, as the bridge is configured.
//
// Pure but for the bridge that it asks. Must never guess: where nobody knows, a question says no number.

import type { NativeClient } from "../shared/native/client.ts";

/** In seconds. */
export async function onceSeconds(bridge: Pick<NativeClient, "request">): Promise<number | undefined> {
  // A question does not fail for want of it.
  const reply = await bridge.request("get_config", {}).catch(() => undefined);
  return parseOnceSeconds(reply?.config);
}

/** Reads it in the `config.toml` that the bridge shows. */
export function parseOnceSeconds(config: unknown): number | undefined {
  const [, grants = ""] = typeof config === "string" ? (/^\[grants\]$([^[]*)/m.exec(config) ?? []) : [];
  const found = /^onceSeconds = (\d{1,6})$/m.exec(grants);
  return found === null ? undefined : Number(found[1]);
}
