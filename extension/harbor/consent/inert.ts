// When a button that allows something can be pressed: after one second of calm. The second begins when the page opens, gets the focus or
// changes, and anew with each press of a button or key that comes before it is over. A click counts only if its press came after that, too.
//
// Pure: a click that was on its way to something else must not land on it, and neither must one of many. Whoever uses keys may move by Tab:
// what is pressed after the second starts nothing anew. Must never delay a denial.

export const INERT_MS = 1_000;

export type Stir = "opened" | "focused" | "changed" | "left";

export interface Guard {
  /** When the last of these happened; `undefined`: somebody else has the focus. */
  since: number | undefined;
  /** The last press came too early: what comes of it allows nothing. */
  early?: boolean;
}

export function stirred(stir: Stir, now: number, before?: Guard): Guard {
  return { since: stir === "left" ? undefined : now, early: before?.early === true };
}

/** A button or a key goes down, wherever. */
export function pressed(guard: Guard, now: number): Guard {
  if (inertFor(guard, now) === 0) return { since: guard.since, early: false };
  return { since: guard.since === undefined ? undefined : now, early: true };
}

/** In how many milliseconds it can be pressed: 0 is now. `undefined`: not as things are. */
export function inertFor({ since }: Guard, now: number): number | undefined {
  if (since === undefined) return undefined;
  return Math.max(0, since + INERT_MS - now);
}

/** Whether a click allows: now, and by a press that came when it could. */
export function mayAllow(guard: Guard, now: number): boolean {
  return inertFor(guard, now) === 0 && guard.early !== true;
}
