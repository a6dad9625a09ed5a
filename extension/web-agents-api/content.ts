// The content script: carries what a page asks to the background, and the answers back.
//
//   page's world ─ MessagePort ─► here ─ port of the browser's ─► background
//
// Owns both ports of its document. Must never trust the page: types are of a fixed list, the gesture is read here, and who asks is
// what the browser tells the background. It holds no more than a few requests, whatever a page sends, and passes on bounded fields only.
// A port of the browser's does not outlive the document's leaving: a browser may close it without a word while the document is kept for a way back.

import { type Port, connectOwn } from "../shared/browser/api.ts";
import { answer } from "../shared/ports/answerer.ts";
import { Caller } from "../shared/ports/caller.ts";
import { CodedError } from "../shared/protocol/codes.ts";
import { CHANNEL } from "../shared/protocol/page.ts";
import { carrier } from "./carrier.ts";
import { forms } from "./forms.ts";
import { Gestures } from "./gesture.ts";

/** How many requests of a page may be open. */
const MOST_OPEN = 64;

// Browsers that do not name documents to the background get this name. A page cannot see it.
const document_ = crypto.randomUUID();
const gestures = new Gestures();
/** What the page is to hear when it is back: a browser may drop what is posted to a document that is being left. */
let away: unknown[] | undefined;

const caller = new Caller(
  () => connectOwn(`page:${document_}`),
  (reason) => {
    // Another version of it takes up new documents only.
    if (/invalidated/i.test(reason)) return new CodedError("ERR_HARBOR_NOT_FOUND", "the Web Agents API has ended: load the page again");
    return new CodedError("ERR_BRIDGE_NOT_CONNECTED", "the connection to the Web Agents API was lost; the request may have been performed");
  },
);

const gestureNow = () => gestures.last(navigator.userActivation.isActive, performance.now());

const { port1, port2 } = new MessageChannel();

/** This end of the channel. The other one is in the page's world. */
const page: Port = {
  name: CHANNEL,
  sender: {},
  post(message) {
    if (away === undefined) port1.postMessage(message);
    else away.push(message);
  },
  onMessage(listener) {
    port1.onmessage = ({ data }) => listener(data);
  },
  // It ends with the document, and this script with it.
  onDisconnect: () => undefined,
  disconnect: () => port1.close(),
};

/** Hands the other end to the page's world, whose script waits for it: no script of the page has run. */
function handOver(): void {
  document.dispatchEvent(new MessageEvent(CHANNEL, { data: "1", ports: [port2] }));
}

/** A click or a key of the person; one that is held is one. */
function pressed(event: Event): void {
  if (event.isTrusted && !(event instanceof KeyboardEvent && event.repeat)) gestures.happened(performance.now());
}

/** The document is left, and may come back: what is open fails now, and what is asked later connects anew. */
function left({ isTrusted }: Event): void {
  if (!isTrusted) return;
  away = [];
  caller.close();
}

/** It has come back. What was asked while it was being left may have got a port that is dead. */
function cameBack({ isTrusted, persisted }: PageTransitionEvent): void {
  if (!isTrusted || !persisted) return;
  const untold = away ?? [];
  away = undefined;
  for (const message of untold) page.post(message);
  caller.close();
}

/** In this script's own world, which no page sees: where an origin has a grant, its top frames get the script twice. */
const world = globalThis as { agentIsServed?: true };
if (window.isSecureContext && window.origin !== "null" && !world.agentIsServed) {
  world.agentIsServed = true;
  const listen = () => {
    for (const kind of ["pointerdown", "keydown"]) window.addEventListener(kind, pressed, { capture: true });
    window.addEventListener("pagehide", left);
    window.addEventListener("pageshow", cameBack);
  };
  listen();
  // document.open() takes all listeners away. What is written then begins with another root.
  new MutationObserver(listen).observe(document, { childList: true });
  answer(page, carrier(caller, gestureNow, forms), { open: MOST_OPEN });
  handOver();
}
