// Tells `web-agents-api` which origins have a grant, whenever that changes.
//
// Owns nothing: the list is the bridge's, and is read anew each time. Must never tell more than origins, or connect for it: without a
// connection no grant can be used.

import type { NativeClient } from "../shared/native/client.ts";
import { isPageOrigin } from "../shared/origins/origin.ts";
import { isOfPages, placeOf } from "../shared/origins/profile.ts";
import { CodedError } from "../shared/protocol/codes.ts";
import type { Grant } from "../shared/protocol/generated/messages.ts";
import { SCOPES } from "../shared/protocol/peer.ts";
import { viewOf } from "./grants.ts";

type Bridge = Pick<NativeClient, "request" | "onState" | "onPush" | "state">;

/** Origins of pages that may do something at present, in whatever tab and profile. */
export function grantedOrigins(grants: Grant[]): string[] {
  const places = new Map(grants.map((grant) => [placeOf(grant), grant]));
  const allowed = [...places.values()].filter(({ origin, profile }) => {
    const { scopes } = viewOf(origin, grants.filter((grant) => grant.origin === origin && grant.profile === profile));
    return isPageOrigin(origin) && isOfPages(profile) && SCOPES.some((scope) => scopes[scope].startsWith("granted"));
  });
  return [...new Set(allowed.map(({ origin }) => origin))];
}

/** Begins to tell. The result has it told once more: somebody is there who may not know. */
export function tellGranted(bridge: Bridge, tell: (origins: string[], grants: Grant[]) => Promise<void>): () => void {
  let turn: Promise<void> = Promise.resolve();
  let due = false;
  const now = async () => {
    due = false;
    if (bridge.state.is !== "ready") return;
    const { grants } = await bridge.request("host_list_all_permissions", {});
    await tell(grantedOrigins(grants), grants);
  };
  // One at a time, so that what is older never comes later; many changes at once are one.
  const again = () => {
    if (due) return;
    due = true;
    turn = turn.then(now).catch(unlessKnown);
  };
  bridge.onState(() => {
    if (bridge.state.is !== "ready") return;
    void bridge.request("host_watch", {}).catch(unlessKnown);
    again();
  });
  bridge.onPush((type) => {
    if (type === "grant_changed") again();
  });
  return again;
}

/** A connection that is lost meanwhile tells everything when it is back. */
function unlessKnown(error: unknown): void {
  if (!(error instanceof CodedError)) console.error("web-agents-api was not told of grants", error);
}
