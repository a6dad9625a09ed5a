// When a provider takes requests again, where it says so with its refusal.
//
// Pure. Must never ask for anything by itself: the person tries again when they want.

import { CodedError } from "../../../shared/protocol/codes.ts";
import { timeWords } from "../words.ts";

/** What is further away is told by the clock. */
const COUNTED_MS = 10 * 60_000;

/** The time from which it does; `undefined`: it has not said. */
export function freeAt(error: unknown, now: number): number | undefined {
  const { retry_after_ms: wait } = Object(error instanceof CodedError ? error.details : undefined) as { retry_after_ms?: unknown };
  return typeof wait === "number" && Number.isFinite(wait) && wait > 0 ? now + wait : undefined;
}

export function freeWords(at: number, now: number): string {
  const left = Math.ceil((at - now) / 1_000);
  if (left <= 0) return "The provider takes requests again.";
  if (at - now > COUNTED_MS) return `The provider takes requests again at ${timeWords(at, now)}.`;
  const minutes = Math.floor(left / 60);
  return `The provider takes requests again in ${minutes === 0 ? "" : `${minutes} min `}${left % 60} s.`;
}

/** In how many milliseconds these words are others; `undefined`: never. */
export function changesIn(at: number, now: number): number | undefined {
  const left = at - now;
  if (left <= 0) return undefined;
  return left > COUNTED_MS ? left - COUNTED_MS : left % 1_000 || 1_000;
}
