// Grants as the panel knows them: reading them, and taking them back.
//
// Owns the order in which they end. Must never give anything: a grant is made on the page of a question.

import type { Hands } from "./hands.ts";
import { type Permission, inOrderOfEnding, isDenial } from "./permissions.ts";

/** Reads all grants. */
export function loadGrants(hands: Hands, left?: AbortSignal): void {
  hands.read("grants", async (signal) => {
    const { grants } = await hands.ask("host_list_all_permissions", {}, { signal });
    hands.change({ grants });
  }, left);
}

/** Takes these back from an origin. */
export async function revoke(hands: Hands, origin: string, profile: string, permissions: Permission[]): Promise<void> {
  for (const { scopes, type } of inOrderOfEnding(permissions)) {
    for (const scope of scopes) await hands.ask("host_revoke_permission", { origin, profile, scope, grant_type: type });
  }
  hands.say(permissions.every(isDenial) ? "Unblocked: it may ask again" : "Access revoked");
}
