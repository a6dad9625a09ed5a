// The background of `web-agents-api`: takes requests of pages, and sends `harbor` what is on a fixed list.
//
// Owns the port to `harbor`, and nothing that has to outlive it. Must never take origin, tab, frame or document from anybody
// but the browser. There is no state to lose when the browser ends it.

import { connectExtension, localStore, onOwnPort, ownId } from "../shared/browser/api.ts";
import { pageOf } from "../shared/origins/senders.ts";
import { answer } from "../shared/ports/answerer.ts";
import { Caller } from "../shared/ports/caller.ts";
import { CodedError } from "../shared/protocol/codes.ts";
import { PEER_PORT } from "../shared/protocol/peer.ts";
import { FLAGS_KEY, parseFlags } from "./flags.ts";
import { handlerFor } from "./pages.ts";

/** How many requests of one document may be open. */
const MOST_OPEN = 64;

function lost(reason: string): CodedError {
  if (/establish connection|Receiving end/i.test(reason)) {
    return new CodedError("ERR_HARBOR_NOT_FOUND", "the extension Harbor is not there: install it, or switch it on");
  }
  return new CodedError("ERR_BRIDGE_NOT_CONNECTED", "the connection to Harbor was lost; what was asked may have been done");
}

const harbor = new Caller(() => connectExtension(__HARBOR_ID__, PEER_PORT), lost);

onOwnPort((port) => {
  const page = pageOf(port.sender, ownId());
  const name = /^page:([0-9a-f-]{36})$/.exec(port.name)?.[1];
  if (page === undefined || name === undefined) {
    port.disconnect();
    return;
  }
  const flags = async () => parseFlags(await localStore.get(FLAGS_KEY));
  answer(port, handlerFor({ ...page, document: page.document ?? name }, harbor, flags), { open: MOST_OPEN });
});
