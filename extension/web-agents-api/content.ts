// The content script: carries what a page asks to the background, and the answers back.
//
// Owns the port of its document. Must never trust the page: types are of a fixed list, the gesture is read here, and who asks is
// what the browser tells the background. It holds no more than a few requests, whatever a page sends, and passes on bounded fields only.
// A port does not outlive the document's leaving: a browser may close it without a word while the document is kept for a way back.

import { connectOwn } from "../shared/browser/api.ts";
import { Caller } from "../shared/ports/caller.ts";
import { type Fields, isFields } from "../shared/ports/wire.ts";
import { CodedError, failureOf } from "../shared/protocol/codes.ts";
import { CHANNEL, type FromPage, PAGE_REQUESTS, type PageRequestType, type ToPage } from "../shared/protocol/page.ts";
import { parsePageRequest } from "../shared/protocol/peer.ts";
import { Gestures } from "./gesture.ts";

/** How many requests of a page may be open. */
const MOST_OPEN = 64;

const origin = window.origin;
// Browsers that do not name documents to the background get this name. A page cannot see it.
const document_ = crypto.randomUUID();
const open = new Map<number, AbortController>();
const gestures = new Gestures();
/** What the page is to hear when it is back: a browser may drop what is posted to a document that is being left. */
let away: ToPage[] | undefined;

const caller = new Caller(
  () => connectOwn(`page:${document_}`),
  (reason) => {
    // Another version of it takes up new documents only.
    if (/invalidated/i.test(reason)) return new CodedError("ERR_HARBOR_NOT_FOUND", "the Web Agents API has ended: load the page again");
    return new CodedError("ERR_BRIDGE_NOT_CONNECTED", "the connection to the Web Agents API was lost; what was asked may have been done");
  },
);

function tell(id: number, what: { result: unknown } | { error: unknown } | { progress: unknown }): void {
  const message = { channel: CHANNEL, to: "page", id, ...what } as ToPage;
  if (away === undefined) window.postMessage(message, origin);
  else away.push(message);
}

async function ask(id: number, type: PageRequestType, fields: Fields): Promise<void> {
  const controller = new AbortController();
  open.set(id, controller);
  const { signal } = controller;
  try {
    const gesture = gestures.last(navigator.userActivation.isActive, performance.now());
    const payload = { ...parsePageRequest(type, fields), gesture };
    const result = await caller.call(type, payload, { signal, onProgress: (progress) => tell(id, { progress }) });
    if (!signal.aborted) tell(id, { result });
  } catch (error) {
    if (!signal.aborted) tell(id, { error: failureOf(error) });
  } finally {
    open.delete(id);
  }
}

function heard({ source, data }: MessageEvent): void {
  if (source !== window || !isFields(data) || data["channel"] !== CHANNEL || data["to"] !== "extension") return;
  const { id, type, payload, cancel } = data as { [Name in keyof FromPage | "id" | "type" | "payload" | "cancel"]?: unknown };
  if (typeof cancel === "number") open.get(cancel)?.abort();
  const asked = PAGE_REQUESTS.find((known) => known === type);
  if (typeof id !== "number" || open.has(id) || asked === undefined) return;
  if (open.size >= MOST_OPEN) {
    const message = `${MOST_OPEN} requests are open already: wait for one of them`;
    tell(id, { error: { code: "ERR_RATE_LIMITED", message } });
    return;
  }
  void ask(id, asked, isFields(payload) ? payload : {});
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
  for (const message of untold) window.postMessage(message, origin);
  caller.close();
}

/** In this script's own world, which no page sees: where an origin has a grant, its top frames get the script twice. */
const world = globalThis as { agentIsServed?: true };
if (window.isSecureContext && origin !== "null" && !world.agentIsServed) {
  world.agentIsServed = true;
  const listen = () => {
    window.addEventListener("message", heard);
    for (const kind of ["pointerdown", "keydown"]) window.addEventListener(kind, pressed, { capture: true });
    window.addEventListener("pagehide", left);
    window.addEventListener("pageshow", cameBack);
  };
  listen();
  // So that a page whose requests another one of these had hears that they are lost.
  window.postMessage({ channel: CHANNEL, to: "page", carrier: crypto.randomUUID() } satisfies ToPage, origin);
  // document.open() takes all listeners away. What is written then begins with another root.
  new MutationObserver(listen).observe(document, { childList: true });
}
