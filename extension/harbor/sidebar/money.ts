// Sums of money in words, as `harbor` prints them. Owns how small and large ones look.
//
// Pure. Must never round a cost to nothing.

/** Millionths of a dollar in words: `free`, `under $0.0001`, `$0.0042`, `$1.05`. */
export function dollars(microdollars: number): string {
  if (microdollars === 0) return "free";
  if (microdollars < 100) return "under $0.0001";
  return microdollars < 10_000 ? `$${(Math.floor(microdollars / 100) / 10_000).toFixed(4)}` : `$${(microdollars / 1_000_000).toFixed(2)}`;
}
