// What of a page's request goes on to the background: one of a fixed list, with the fields that belong to it.
//
// Pure. Must never pass on what was not looked at: a page that has got at the port can send anything.

import type { Handler } from "../shared/ports/answerer.ts";
import type { Caller } from "../shared/ports/caller.ts";
import { relayed } from "../shared/ports/relay.ts";
import { CodedError } from "../shared/protocol/codes.ts";
import { FORM_REQUESTS, PAGE_REQUESTS } from "../shared/protocol/page.ts";
import { parsePageRequest } from "../shared/protocol/peer.ts";

/**
 * @param gesture the number of the person's last click or key in the document
 * @param forms answers what concerns the document itself
 */
export function carrier(background: Pick<Caller, "call">, gesture: () => number, forms: Handler): Handler {
  return async (type, payload, context) => {
    if (FORM_REQUESTS.some((known) => known === type)) return forms(type, payload, context);
    const asked = PAGE_REQUESTS.find((known) => known === type);
    if (asked === undefined) throw new CodedError("ERR_INVALID_REQUEST", "there is no request of this type");
    // The number first: what is asked belongs to the click that came before it.
    const number = gesture();
    return background.call(asked, { ...parsePageRequest(asked, payload), gesture: number }, relayed(context));
  };
}
