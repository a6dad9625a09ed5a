// The bridge, as a page in a profile of the browser asks it: each request for an origin says which profile that is.
//
// Owns which requests those are; the compiler holds the list against the messages. Must never leave one out: it would be judged by the
// grants of another profile.

import type { NativeClient } from "../shared/native/client.ts";
import { DEFAULT_PROFILE } from "../shared/origins/profile.ts";
import type { Requests } from "../shared/protocol/generated/messages.ts";

type Bridge = Pick<NativeClient, "request">;

/** All requests that can name a profile. */
type OfProfiles = { [T in keyof Requests]: "profile" extends keyof Requests[T] ? T : never }[keyof Requests];

/** `needed`: where none is named it means all profiles, and not the default one. */
const OF_PROFILES: { [type in OfProfiles]: "named" | "needed" } = {
  ...({ host_grant_permission: "named", host_revoke_permission: "named", host_check_permission: "named", host_begin_page_act: "named", host_get_permissions: "needed" } as const),
  ...({ host_expire_tab_grants: "needed", host_list_all_permissions: "needed", host_get_stats: "named", host_note_consent: "named" } as const),
  ...({ host_list_tools: "named", host_list_servers: "named", host_list_offers: "named", host_call_tool: "named", host_run_script: "named" } as const),
  ...({ host_create_run: "named", host_end_run: "named", host_get_run: "named", run_start: "named" } as const),
  ...({ host_llm_chat: "named", host_llm_list_models: "named" } as const),
  ...({ session_create: "named", session_get: "named", session_list: "named", session_end: "named" } as const),
};

/** The same bridge, for pages in that profile. `profileOf`: how the bridge calls it, which may have to be asked. */
export function inProfile(bridge: Bridge, profileOf: () => Promise<string | undefined>): Bridge {
  const request: Bridge["request"] = async (type, fields, options) => {
    if (!Object.hasOwn(OF_PROFILES, type)) return bridge.request(type, fields, options);
    const profile = (await profileOf()) ?? (OF_PROFILES[type as OfProfiles] === "needed" ? DEFAULT_PROFILE : undefined);
    return bridge.request(type, profile === undefined ? fields : { ...fields, profile }, options);
  };
  return { request };
}
