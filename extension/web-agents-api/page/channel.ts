// This world's end of the channel to the content script.
//
//   content.ts ─ one event with a port, before any script of the page ─► here ─ requests, cancels, credit ─► port ─► answers, pieces
//
// Owns the port and the promises that wait for answers. Must never use a built-in that is not its own copy, or hear or say anything
// anywhere else: what goes over a port of our own no script of the page can watch.

import {
  CapturedMap,
  CapturedPromise,
  apply,
  dataOf,
  document_,
  hasOwn,
  isAborted,
  listenTo,
  mapDelete,
  mapForEach,
  mapGet,
  mapSet,
  portsOf,
  postTo,
  reasonOf,
  startPort,
  stopEvent,
  stopListeningTo, isObject } from "./builtins.ts";
import { failure, invalid, failureOf } from "./errors.ts";
import { CHANNEL, type PageRequestType } from "../../shared/protocol/page.ts";

/** What else there is about a request than its answer. */
export interface Options {
  signal?: AbortSignal | undefined;
  /** A function of the page's. */
  onProgress?: unknown;
  /** Called with each piece of a stream. */
  onChunk?: ((chunk: unknown) => void) | undefined;
}

interface Open extends Options {
  resolve(result: unknown): void;
  reject(error: unknown): void;
  /** The number of the piece that comes next. */
  next: number;
  done(): void;
}

/** A request that is under way. */
export interface Asked {
  answer: Promise<unknown>;
  /** Says that so many further pieces are welcome. */
  more(n: number): void;
  /** Ends it; its answer never comes. */
  cancel(): void;
}

type Heard = { [name: string]: unknown } | null | undefined;

const open = new CapturedMap<unknown, Open>();
let last = 0;
let port: MessagePort | undefined;

let started: () => void = () => undefined;

/** Waits for the port; calls `start` when it is there. Without one there is no API. */
export function connect(start: () => void): void {
  started = start;
  listen();
}

/** Once more, which changes nothing: document.open() takes all listeners away. */
function listen(): void {
  listenTo(document_, CHANNEL, handedOver, { __proto__: null, capture: true } as AddEventListenerOptions);
}

/** A second one comes where a browser puts the scripts of an extension that was loaded again into the pages that are open. */
function handedOver(event: Event): void {
  const given = portsOf(event as MessageEvent)[0];
  if (given === undefined) return;
  stopEvent(event);
  const isFirst = port === undefined;
  if (!isFirst) lost("the Web Agents API was loaded again; the request may have been performed");
  port = given;
  listenTo(given, "message", heard as EventListener);
  listenTo(given, "close", () => {
    if (port === given) lost("the Web Agents API has ended: load the page again");
  });
  startPort(given);
  if (isFirst) started();
}

/** Asks, and waits for the answer. */
export function ask(type: PageRequestType, payload: object = {}, options: Options = {}): Promise<unknown> {
  return begin(type, payload, options).answer;
}

/** Asks. The answer rejects with the signal's reason where that aborts. */
export function begin(type: PageRequestType, payload: object, options: Options): Asked {
  const { signal } = options;
  listen();
  last += 1;
  const id = last;
  const end = (): void => {
    if (mapDelete(open, id)) post({ __proto__: null, cancel: id });
  };
  const answer = new CapturedPromise<unknown>((resolve, reject) => {
    if (signal !== undefined && isAbortedSignal(signal)) {
      reject(reasonOf(signal));
      return;
    }
    const abort = (): void => {
      end();
      reject(reasonOf(signal as AbortSignal));
    };
    const done = (): void => {
      mapDelete(open, id);
      if (signal !== undefined) stopListeningTo(signal, "abort", abort);
    };
    mapSet(open, id, { ...options, resolve, reject, next: 0, done });
    if (signal !== undefined) listenTo(signal, "abort", abort, { __proto__: null, once: true } as AddEventListenerOptions);
    try {
      post({ __proto__: null, id, type, payload });
    } catch {
      done();
      reject(invalid("the argument cannot be copied"));
    }
  });
  const more = (n: number): void => {
    if (mapGet(open, id) !== undefined) post({ __proto__: null, more: id, n });
  };
  return { answer, more, cancel: end };
}

function post(message: object): void {
  if (port !== undefined) postTo(port, message);
}

/** The browser's own getter throws where it is no signal. */
function isAbortedSignal(signal: AbortSignal): boolean {
  try {
    return isAborted(signal);
  } catch {
    throw invalid("signal must be an AbortSignal");
  }
}

function heard(event: MessageEvent): void {
  const message = dataOf(event) as Heard;
  if (!isObject(message) || !hasOwn(message, "id")) return;
  const id = message["id"];
  const waiting = mapGet(open, id);
  if (waiting === undefined) return;
  if (hasOwn(message, "chunk")) {
    const isNext = message["seq"] === waiting.next;
    waiting.next += 1;
    if (isNext) waiting.onChunk?.(message["chunk"]);
    else fail(waiting, failure("ERR_PROTOCOL_ERROR", "a piece of an answer is missing"));
  } else if (hasOwn(message, "progress")) {
    // What the page's function throws is the page's, and ends nothing of ours.
    if (typeof waiting.onProgress === "function") apply(waiting.onProgress, undefined, [message["progress"]]);
  } else if (hasOwn(message, "error")) fail(waiting, failureOf(message["error"]));
  else {
    waiting.done();
    waiting.resolve(message["result"]);
  }
}

function fail(waiting: Open, error: Error): void {
  waiting.done();
  waiting.reject(error);
}

/** Whoever had the open requests is gone without a word. */
function lost(why: string): void {
  mapForEach(open, (waiting) => fail(waiting as Open, failure("ERR_BRIDGE_NOT_CONNECTED", why)));
}
