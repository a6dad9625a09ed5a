// The background of `web-agents-api`: takes requests of pages, and sends `harbor` what is on a fixed list.
//
// Owns the port to `harbor`, and nothing that has to outlive it. Must never take origin, tab, frame or document from anybody
// but the browser. There is no state to lose when the browser ends it.

import {
  browserName,
  connectExtension,
  localStore,
  onForeignMessage,
  onOwnPort,
  onStarted,
  ownId,
  placeScripts,
} from "../shared/browser/api.ts";
import { isBackgroundOf, pageOf } from "../shared/origins/senders.ts";
import { answer } from "../shared/ports/answerer.ts";
import { Caller } from "../shared/ports/caller.ts";
import { CodedError } from "../shared/protocol/codes.ts";
import { PEER_PORT } from "../shared/protocol/peer.ts";
import { isFields } from "../shared/ports/wire.ts";
import { FLAGS_KEY, parseFlags } from "./flags.ts";
import { Frames, parseOrigins } from "./frames.ts";
import { handlerFor } from "./pages.ts";

/** How many requests of one document may be open. */
const MOST_OPEN = 64;

/** What runs in frames of origins with a grant: the same as in the top frames of all pages. */
const frames = new Frames(localStore, (matches) =>
  placeScripts(
    [
      { id: "content", file: "content.js", world: "ISOLATED" },
      { id: "injected", file: "injected.js", world: "MAIN" },
    ],
    matches,
  ),
);

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
  const handler = handlerFor({ ...page, document: page.document ?? name }, harbor, flags, (origin) => frames.add(origin));
  answer(port, handler, { open: MOST_OPEN });
});

onForeignMessage(async (message, sender) => {
  if (!isBackgroundOf(sender, __HARBOR_ID__, browserName)) return;
  if (isFields(message) && message["push"] === "grants") await frames.replace(parseOrigins(message["origins"]));
});

onStarted(() => void frames.restore());
