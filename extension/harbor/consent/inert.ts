// When a button that allows something can be pressed: one second after the page last opened, got the focus, or changed.
//
// Pure: a click that was on its way to something else must not land on it.

export const INERT_MS = 1_000;

export type Stir = "opened" | "focused" | "changed" | "left";

export interface Guard {
  /** When the last of these happened; `undefined`: somebody else has the focus. */
  since: number | undefined;
}

export function stirred(stir: Stir, now: number): Guard {
  return { since: stir === "left" ? undefined : now };
}

/** In how many milliseconds it can be pressed: 0 is now. `undefined`: not as things are. */
export function inertFor({ since }: Guard, now: number): number | undefined {
  if (since === undefined) return undefined;
  return Math.max(0, since + INERT_MS - now);
}
