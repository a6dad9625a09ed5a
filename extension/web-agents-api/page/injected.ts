// `window.agent`, in the world of the page.
//
//   page ─ window.agent ─► here ─ postMessage ─► content.ts ─ port ─► background.ts ─► Harbor
//
// Owns the object that pages see and the promises that it has given out. Must never use a built-in that is not its own
// copy, know more than the page may, or decide anything: the background does.

import {
  CapturedError,
  CapturedEvent,
  CapturedMap,
  CapturedPromise,
  apply,
  dataOf,
  defineProperty,
  dispatch,
  freeze,
  hasOwn,
  isAborted,
  isSecure,
  listen,
  listenTo,
  mapDelete,
  mapForEach,
  mapGet,
  mapSet,
  pageOrigin,
  post,
  reasonOf,
  self_,
  sourceOf,
  stopListeningTo,
  stringify,
} from "./builtins.ts";
import { CHANNEL, MAX_ARGS, MAX_DEPTH, type PageRequestType, isDeep } from "../../shared/protocol/page.ts";

interface Open {
  resolve(result: unknown): void;
  reject(error: unknown): void;
  onProgress: unknown;
  done(): void;
}

type Answer = { [name: string]: unknown } | null | undefined;

const open = new CapturedMap<unknown, Open>();
let last = 0;
let carrier: unknown;

/** A descriptor that inherits nothing: a page may have given all objects a `get`. */
const shown = (value: unknown): PropertyDescriptor => ({ __proto__: null, value, enumerable: true }) as PropertyDescriptor;

function failure(code: unknown, message: unknown, details?: unknown): Error {
  const error = new CapturedError(`${message}`);
  defineProperty(error, "code", shown(`${code}`));
  if (details !== undefined) defineProperty(error, "details", shown(details));
  return error;
}

function ask(type: PageRequestType, payload: unknown, signal?: AbortSignal, onProgress?: unknown): Promise<unknown> {
  return new CapturedPromise((resolve, reject) => {
    if (signal !== undefined && isAbortedSignal(signal)) {
      reject(reasonOf(signal));
      return;
    }
    last += 1;
    const id = last;
    const abort = (): void => {
      mapDelete(open, id);
      post({ channel: CHANNEL, to: "extension", cancel: id }, pageOrigin);
      reject(reasonOf(signal as AbortSignal));
    };
    const done = (): void => {
      mapDelete(open, id);
      if (signal !== undefined) stopListeningTo(signal, "abort", abort);
    };
    mapSet(open, id, { resolve, reject, onProgress, done });
    // Once more, which changes nothing: document.open() takes all listeners away.
    listen("message", heard);
    if (signal !== undefined) listenTo(signal, "abort", abort, { __proto__: null, once: true } as AddEventListenerOptions);
    try {
      post({ channel: CHANNEL, to: "extension", id, type, payload }, pageOrigin);
    } catch {
      done();
      reject(failure("ERR_INVALID_REQUEST", "what was given cannot be copied"));
    }
  });
}

/** The browser's own getter throws where it is no signal. */
function isAbortedSignal(signal: AbortSignal): boolean {
  try {
    return isAborted(signal);
  } catch {
    throw failure("ERR_INVALID_REQUEST", "signal must be an AbortSignal");
  }
}

function heard(event: Event): void {
  const message = event as MessageEvent;
  if (sourceOf(message) !== self_) return;
  const answer = dataOf(message) as Answer;
  if (typeof answer !== "object" || answer === null || !hasOwn(answer, "to")) return;
  if (answer["channel"] !== CHANNEL || answer["to"] !== "page") return;
  if (hasOwn(answer, "carrier")) {
    carriedBy(answer["carrier"]);
    return;
  }
  const waiting = mapGet(open, answer["id"]);
  if (waiting === undefined) return;
  if (hasOwn(answer, "progress")) {
    // What the page's function throws is the page's, and ends nothing of ours.
    if (typeof waiting.onProgress === "function") apply(waiting.onProgress, undefined, [answer["progress"]]);
    return;
  }
  waiting.done();
  if (!hasOwn(answer, "error")) {
    waiting.resolve(answer["result"]);
    return;
  }
  const { code, message: text, details } = answer["error"] as { [name: string]: unknown };
  waiting.reject(failure(code, text, details));
}

/** Another one carries requests from now on: the extension was loaded again, and whoever had the open ones is gone without a word. */
function carriedBy(other: unknown): void {
  if (carrier !== undefined && carrier !== other) {
    mapForEach(open, (waiting) => {
      (waiting as Open).done();
      (waiting as Open).reject(failure("ERR_BRIDGE_NOT_CONNECTED", "the Web Agents API was loaded again; what was asked may have been done"));
    });
  }
  carrier = other;
}

/** Arguments as JSON: functions, cycles and what is too large never leave the page. */
function textOf(args: unknown): string {
  let text: string | undefined;
  try {
    text = stringify(args === undefined ? {} : args);
  } catch {
    throw failure("ERR_INVALID_REQUEST", "args must be an object that JSON can hold: without cycles and BigInt, and not too deep");
  }
  if (text === undefined || text[0] !== "{") throw failure("ERR_INVALID_REQUEST", "args must be an object");
  if (text.length > MAX_ARGS) throw failure("ERR_INVALID_REQUEST", `args may have ${MAX_ARGS} characters as JSON`);
  if (isDeep(text)) throw failure("ERR_INVALID_REQUEST", `args may be nested ${MAX_DEPTH} deep`);
  return text;
}

function rejected(error: unknown): Promise<never> {
  return new CapturedPromise((_, reject) => reject(error));
}

interface Call {
  tool?: unknown;
  args?: unknown;
  signal?: AbortSignal;
  onProgress?: unknown;
}

function callTool(call: Call | undefined): Promise<unknown> {
  try {
    const { tool, args, signal, onProgress } = call ?? {};
    return ask("call", { tool, args: textOf(args), progress: typeof onProgress === "function" }, signal, onProgress);
  } catch (error) {
    return rejected(error);
  }
}

interface Wish {
  scopes?: unknown;
  reason?: unknown;
  tools?: unknown;
}

function requestPermissions(wish: Wish | undefined): Promise<unknown> {
  try {
    const { scopes, reason, tools } = wish ?? {};
    return ask("request_permissions", { scopes, reason, tools });
  } catch (error) {
    return rejected(error);
  }
}

const agent = freeze({
  requestPermissions: freeze((wish?: Wish) => requestPermissions(wish)),
  permissions: freeze({ list: freeze(() => ask("permissions", {})) }),
  capabilities: freeze(() => ask("capabilities", {})),
  tools: freeze({
    list: freeze(() => ask("list", {})),
    call: freeze((call?: Call) => callTool(call)),
  }),
});

if (isSecure && pageOrigin !== "null" && !("agent" in self_)) {
  listen("message", heard);
  defineProperty(self_, "agent", shown(agent));
  dispatch(new CapturedEvent("agent-ready"));
  // Once more when the page's own scripts can have listened.
  listen("DOMContentLoaded", () => dispatch(new CapturedEvent("agent-ready")));
}
