// The background of `web-agents-api`: takes requests of pages, and sends `harbor` what is on a fixed list.
//
// Owns the port to `harbor`, and nothing that has to outlive it. Must never take origin, tab, frame or document from anybody
// but the browser. There is no state to lose when the browser ends it.

import {
  type Port,
  browserName,
  connectExtension,
  keepStoresFromContent,
  localStore,
  onForeignMessage,
  onOwnPort,
  onStarted,
  openOptions,
  ownId,
  ownUrl,
  placeScripts,
  shownTab,
} from "../shared/browser/api.ts";
import { isPageOrigin } from "../shared/origins/origin.ts";
import { profileOf } from "../shared/origins/profile.ts";
import { isBackgroundOf, ownPage, pageOf } from "../shared/origins/senders.ts";
import { Room, answer } from "../shared/ports/answerer.ts";
import { Caller } from "../shared/ports/caller.ts";
import { CodedError } from "../shared/protocol/codes.ts";
import { type BridgeView, PEER_PORT } from "../shared/protocol/peer.ts";
import { isFields } from "../shared/ports/wire.ts";
import { cached } from "./cached.ts";
import { FLAGS_KEY, parseFlags } from "./flags.ts";
import { Frames, parseOrigins } from "./frames.ts";
import { OWN_PORT, flagsFor, optionsHandler } from "./options/handler.ts";
import type { HarborView } from "./options/words.ts";
import { handlerFor } from "./pages.ts";
import { Preferences } from "./preferences.ts";

/** How many requests of one document may be open. */
const MOST_OPEN = 64;

/** How many of all documents of an origin: a site with many tabs or frames leaves room for the others. */
const MOST_OF_ORIGIN = 256;

const rooms = new Map<string, { room: Room; documents: number }>();

/** The room of this origin, as long as it has documents. */
function roomOf(origin: string, port: Port): Room {
  const found = rooms.get(origin) ?? { room: new Room(MOST_OF_ORIGIN), documents: 0 };
  rooms.set(origin, found);
  found.documents += 1;
  port.onDisconnect(() => {
    found.documents -= 1;
    if (found.documents === 0) rooms.delete(origin);
  });
  return found.room;
}

/** What runs in frames of origins with a grant: the same as in the top frames of all pages. */
const frames = new Frames(localStore, (matches) =>
  placeScripts(
    [
      // The first one waits for what the second one hands over: Chromium runs them by their ids, Firefox in this order.
      { id: "1-injected", file: "injected.js", world: "MAIN" },
      { id: "2-content", file: "content.js", world: "ISOLATED" },
    ],
    matches,
  ),
);

/** Whose `LanguageModel` pages have. The order in which this runs and what runs everywhere does not matter: each knows what to do second. */
const preferences = new Preferences(localStore, (preference, matches) =>
  placeScripts([{ id: `3-prefer-${preference}`, file: `prefer_${preference}.js`, world: "MAIN" }], matches, false),
);

/** Nobody else writes the switches. */
const store = cached(localStore);

/** Pages of the options that are open. */
const options = new Set<(harbor: HarborView) => void>();
let known: HarborView = { is: "unknown" };

function learned(harbor: HarborView): void {
  known = harbor;
  for (const tell of options) tell(harbor);
}

function lost(reason: string): CodedError {
  if (/establish connection|Receiving end/i.test(reason)) {
    learned({ is: "missing" });
    return new CodedError("ERR_HARBOR_NOT_FOUND", "the extension Harbor is missing: the person has to switch it on, or install it; extension/README.md of Harbor's source says how");
  }
  learned({ is: "lost" });
  return new CodedError("ERR_BRIDGE_NOT_CONNECTED", "the connection to Harbor was lost; the request may have been performed");
}

const harbor = new Caller(
  () => connectExtension(__HARBOR_ID__, PEER_PORT),
  lost,
  (type, payload) => {
    if (type === "bridge") learned({ is: "there", ...(payload as unknown as BridgeView) });
  },
);

function serveOptions(port: Port): void {
  const push = answer(port, optionsHandler(store, preferences, () => harbor.open()), { open: 8 });
  const tell = (view: HarborView) => push("harbor", { ...view });
  options.add(tell);
  port.onDisconnect(() => options.delete(tell));
  tell(known);
}

onOwnPort((port) => {
  if (port.name === OWN_PORT && ownPage(port.sender, ownId(), ownUrl("")) === "options.html") {
    serveOptions(port);
    return;
  }
  const page = pageOf(port.sender, ownId());
  const name = /^page:([0-9a-f-]{36})$/.exec(port.name)?.[1];
  if (page === undefined || name === undefined) {
    port.disconnect();
    return;
  }
  const flags = async () => parseFlags(await store.get(FLAGS_KEY));
  // Where a browser refuses, frames lack the API; the page is allowed what it is allowed all the same.
  const granted = (origin: string) => frames.add(origin).catch((error) => console.error("frames lack the API", error));
  const handler = handlerFor({ ...page, document: page.document ?? name }, harbor, flags, granted, openOptions);
  answer(port, handler, { open: MOST_OPEN, shared: roomOf(page.origin, port) });
});

onForeignMessage(async (message, sender) => {
  if (!isBackgroundOf(sender, __HARBOR_ID__, browserName)) return;
  if (!isFields(message)) return;
  if (message["push"] === "grants") await frames.replace(parseOrigins(message["origins"]));
  // `harbor` may see no address of any tab; its panel begins with the page beside it.
  if (message["ask"] === "site") return { site: await siteIn(message["window"]) };
  if (message["ask"] === "options") await openOptions();
  // The person's click in `harbor`'s panel; no page reaches that.
  if (message["ask"] === "flags") return { flags: await flagsFor(store, message) };
});

/** The page that a window shows, where it could ask for tools. */
async function siteIn(windowId: unknown): Promise<{ origin: string; tab: number; profile?: string } | undefined> {
  const shown = typeof windowId === "number" ? await shownTab(windowId) : undefined;
  if (shown === undefined || !URL.canParse(shown.url)) return undefined;
  const { origin } = new URL(shown.url);
  const profile = profileOf(shown.store);
  return isPageOrigin(origin) ? { origin, tab: shown.tab, ...(profile === undefined ? {} : { profile }) } : undefined;
}

// They run in the process of a page, and have no need of it: whoever takes that over does not get at flags and origins.
keepStoresFromContent();

onStarted(() => {
  void frames.restore();
  void preferences.restore();
});
