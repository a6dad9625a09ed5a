// How often something is passed on that may be said more often than anybody can look.
//
// Pure but for the clock that it is given. Must never pass on what is old: of what comes too soon only the last is kept.

import type { After } from "../shared/ports/caller.ts";

/** At most one is passed on in so many milliseconds, where nothing else is said. */
export const PACE_MS = 50;

export interface Paced<T> {
  /** Passes on at once, or as soon as it may. */
  say(value: T): void;
  /** Nothing more comes: what waits is passed on now. */
  finish(): void;
}

export function paced<T>(pass: (value: T) => void, after: After, ms = PACE_MS): Paced<T> {
  let kept: { value: T } | undefined;
  let stop: (() => void) | undefined;
  const passKept = (): void => {
    const now = kept;
    kept = undefined;
    if (now !== undefined) pass(now.value);
  };
  const due = (): void => {
    stop = kept === undefined ? undefined : after(ms, due);
    passKept();
  };
  return {
    say(value) {
      kept = { value };
      if (stop === undefined) due();
    },
    finish() {
      stop?.();
      passKept();
    },
  };
}
