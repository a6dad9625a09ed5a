// When the port to the native host is opened, and what its end means.
//
//          want                 hello_accepted
//   idle ────────► connecting ────────────────► ready
//    ▲                │   ▲                       │
//    │ closed,        │   │ due                   │ closed
//    │ nobody wants   ▼   │                       ▼
//    └───────────── waiting ◄──── while somebody wants ─┘
//                     refused, or no native host: failed, until somebody wants it again
//
// Pure: state, event, now in; state and actions out. Must never hold a port or a timer. Nothing is tried again while nobody wants it: `harbor shutdown`
// would otherwise be undone at once.

import { PROTOCOL } from "../protocol/generated/messages.ts";

/** The longest wait. Below 30 s, since a background with nothing to do is ended then, and its timers with it. */
export const LONGEST_WAIT_MS = 16_000;
const FIRST_WAIT_MS = 250;

/** How long the native host has to find or start the bridge, and to answer. */
export const HELLO_MS = 20_000;

/** What failed is not tried again within this time, however many ask. */
export const REST_MS = 1_000;

/** After so many attempts requests no longer wait for the next one. */
export const PATIENCE = 5;

export type Cause = "host_missing" | "host_forbidden" | "version" | "refused" | "lost";

export interface Reason {
  cause: Cause;
  message: string;
  /** With `version`: which end is older, where the bridge has said its protocol. */
  older?: "extension" | "program";
}

export type State =
  | { is: "idle" }
  | { is: "connecting"; attempt: number; until: number }
  | { is: "ready" }
  | { is: "waiting"; attempt: number; until: number; reason: Reason }
  | { is: "failed"; since: number; reason: Reason };

export type Event =
  /** Somebody has a request, or looks at the state. */
  | { is: "want" }
  | { is: "hello_accepted" }
  /** The bridge, or the native host on its behalf, says no. */
  | { is: "refused"; code: string; message: string; details?: unknown }
  /** The port closed, with the browser's words. `wanted`: whether somebody still waits or watches. */
  | { is: "closed"; text: string; wanted: boolean }
  /** The time of `deadline` has come. */
  | { is: "due"; wanted: boolean };

export type Action =
  | { do: "connect" }
  | { do: "disconnect" }
  /** Requests that wait for the connection fail with this. */
  | { do: "fail_waiting"; reason: Reason };

export interface Step {
  state: State;
  actions: Action[];
}

export const START: State = { is: "idle" };

export function step(state: State, event: Event, now: number): Step {
  switch (event.is) {
    case "want":
      return wanted(state, now);
    case "hello_accepted":
      return state.is === "connecting" ? { state: { is: "ready" }, actions: [] } : stay(state);
    case "refused":
      return state.is === "connecting" ? failed(refusal(event), now, true) : stay(state);
    case "closed":
      return closed(state, event, now);
    case "due":
      return due(state, event.wanted, now);
  }
}

/** When `due` is to be told, in the same milliseconds as `now`. */
export function deadline(state: State): number | undefined {
  return state.is === "connecting" || state.is === "waiting" ? state.until : undefined;
}

function wanted(state: State, now: number): Step {
  if (state.is === "idle") return connecting(1, now);
  if (state.is === "failed") {
    const rested = now >= state.since + REST_MS || now < state.since;
    return rested ? connecting(1, now) : { state, actions: [{ do: "fail_waiting", reason: state.reason }] };
  }
  return stay(state);
}

function closed(state: State, { text, wanted }: { text: string; wanted: boolean }, now: number): Step {
  if (state.is === "idle" || state.is === "failed" || state.is === "waiting") return stay(state);
  const reason = reasonOf(text, state.is === "ready");
  if (reason.cause !== "lost") return failed(reason, now, false);
  const attempt = state.is === "connecting" ? state.attempt : 0;
  return again(attempt, reason, wanted, now);
}

function due(state: State, wanted: boolean, now: number): Step {
  const until = deadline(state);
  if (until === undefined || now < until) return stay(state);
  if (state.is === "waiting") return wanted ? connecting(state.attempt + 1, now) : { state: START, actions: [] };
  if (state.is !== "connecting") return stay(state);
  const reason: Reason = { cause: "lost", message: "Harbor's native host does not answer" };
  const next = again(state.attempt, reason, wanted, now);
  return { state: next.state, actions: [{ do: "disconnect" }, ...next.actions] };
}

/** Waits for the next attempt, where somebody wants it. */
function again(attempt: number, reason: Reason, wanted: boolean, now: number): Step {
  if (!wanted) return { state: START, actions: [] };
  const actions: Action[] = attempt >= PATIENCE ? [{ do: "fail_waiting", reason }] : [];
  return { state: { is: "waiting", attempt, until: now + wait(attempt), reason }, actions };
}

/** How long to wait after the attempt of this number; 0 after a connection that had stood. */
export function wait(attempt: number): number {
  return Math.min(FIRST_WAIT_MS * 2 ** Math.min(attempt, 16), LONGEST_WAIT_MS);
}

function connecting(attempt: number, now: number): Step {
  return { state: { is: "connecting", attempt, until: now + HELLO_MS }, actions: [{ do: "connect" }] };
}

function failed(reason: Reason, now: number, open: boolean): Step {
  const actions: Action[] = [{ do: "fail_waiting", reason }];
  if (open) actions.unshift({ do: "disconnect" });
  return { state: { is: "failed", since: now, reason }, actions };
}

function stay(state: State): Step {
  return { state, actions: [] };
}

function refusal({ code, message, details }: Extract<Event, { is: "refused" }>): Reason {
  if (code !== "version_mismatch") return { cause: "refused", message };
  const { protocol: theirs } = Object(details) as { protocol?: unknown };
  if (typeof theirs !== "number" || theirs === PROTOCOL) return { cause: "version", message };
  return { cause: "version", message, older: theirs > PROTOCOL ? "extension" : "program" };
}

/** What the browser's words mean; those of Chromium, then those of Firefox. `stood`: the bridge had answered before. */
export function reasonOf(text: string, stood: boolean): Reason {
  if (/host not found|No such native application/i.test(text)) {
    return { cause: "host_missing", message: "Harbor is not installed for this browser: run `harbor host install`" };
  }
  if (/forbidden/i.test(text)) {
    return { cause: "host_forbidden", message: "Harbor is not connected to this extension: run `harbor host install`" };
  }
  if (stood) return { cause: "lost", message: "the connection to Harbor's bridge was lost" };
  // What Firefox says of a program that is not there, or cannot be run.
  if (/unexpected error/i.test(text)) {
    return { cause: "host_missing", message: "Harbor's program is not at the place that this browser knows: run `harbor host install`" };
  }
  return { cause: "lost", message: "Harbor ends as soon as it starts: `harbor doctor` says why" };
}
