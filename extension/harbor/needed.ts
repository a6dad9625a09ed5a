// Whether a page may do something now, by the bridge's word.
//
// Must never take a grant that was read before for one that still stands.

import type { NativeClient } from "../shared/native/client.ts";
import { CodedError } from "../shared/protocol/codes.ts";
import type { Asker } from "../shared/protocol/peer.ts";

/** Throws why it may not. */
export async function need(bridge: Pick<NativeClient, "request">, { origin, tab }: Asker, scope: string): Promise<void> {
  const { granted, code, message } = await bridge.request("host_check_permission", { origin, tab_id: tab, scope });
  if (!granted) throw new CodedError(code ?? "ERR_SCOPE_REQUIRED", message ?? `the person has not allowed ${scope}`);
}
