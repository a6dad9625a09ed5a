// What goes over a port between parts of the extensions.
//
//   caller ─ {id, type, payload} ─►  answerer
//   caller ─ {cancel: id} ─────────►
//   caller ─ {more: id, n} ────────►                   so many further chunks may come
//          ◄── {id, result} or {id, error}     once for each id
//          ◄── {id, progress}                  before that, as often as there is some
//          ◄── {id, seq, chunk}                before that, seq from 0 without a gap: nothing of it is left out
//          ◄── {push, payload}                 unasked
//          ◄── {alive: true}                   first of all, and while requests are open
//
// Owns these forms and how they are read. Must never know what a request means.

import { type Failure, parseFailure } from "../protocol/codes.ts";

export interface RequestFrame {
  id: number;
  type: string;
  payload: Fields;
}

export type Fields = { [name: string]: unknown };

/** How often a caller hears that its requests are being worked on. A background that hears nothing for 30 s is ended. */
export const ALIVE_MS = 20_000;

/** How long the answering end may be silent while something is asked of it. */
export const SILENT_MS = 3 * ALIVE_MS;

/** How many chunks of a stream may come before the first credit is given. */
export const FIRST_CREDIT = 64;

/** How much credit can be given at a time. */
export const MOST_CREDIT = 10_000;

export type Heard =
  | { kind: "result"; id: number; result: unknown }
  | { kind: "error"; id: number; error: Failure }
  | { kind: "progress"; id: number; progress: unknown }
  | { kind: "chunk"; id: number; seq: unknown; chunk: unknown }
  | { kind: "push"; type: string; payload: Fields }
  | { kind: "nothing" };

/** Reads what an answerer sent. */
export function parseHeard(message: unknown): Heard {
  if (!isFields(message)) return { kind: "nothing" };
  const { id, push, payload } = message;
  if (typeof push === "string") return { kind: "push", type: push, payload: isFields(payload) ? payload : {} };
  if (!isId(id)) return { kind: "nothing" };
  if ("chunk" in message) return { kind: "chunk", id, seq: message["seq"], chunk: message["chunk"] };
  if ("progress" in message) return { kind: "progress", id, progress: message["progress"] };
  if ("error" in message) return { kind: "error", id, error: parseFailure(message["error"]) };
  return { kind: "result", id, result: message["result"] };
}

export type Asked =
  | { kind: "request"; request: RequestFrame }
  | { kind: "cancel"; id: number }
  | { kind: "more"; id: number; n: number }
  | { kind: "nothing" };

/** Reads what a caller sent. */
export function parseAsked(message: unknown): Asked {
  if (!isFields(message)) return { kind: "nothing" };
  const { id, type, payload, cancel, more, n } = message;
  if (isId(cancel)) return { kind: "cancel", id: cancel };
  if (isId(more)) return isId(n) && n > 0 && n <= MOST_CREDIT ? { kind: "more", id: more, n } : { kind: "nothing" };
  if (!isId(id) || typeof type !== "string" || type.length > 64) return { kind: "nothing" };
  return { kind: "request", request: { id, type, payload: isFields(payload) ? payload : {} } };
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isId(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
