// What a site has used of models today, and may use.
//
// Pure. Must never say that there is a limit where there is none.

import type { Budget, Grant } from "../../shared/protocol/generated/messages.ts";
import { count } from "./words.ts";

/** The most that can be set. */
const MOST = 1_000_000_000_000;

/** Of one site. */
export interface Share {
  used: number;
  /** Tokens a day; absent: as many as it likes. */
  limit?: number;
  /** Whether the person has set it. */
  isSet: boolean;
}

export function shareOf(origin: string, budgets: { list: Budget[]; ofAnOrigin: number }): Share {
  const found = budgets.list.find(({ principal }) => principal === origin);
  if (found === undefined) return { used: 0, limit: budgets.ofAnOrigin, isSet: false };
  const { used, tokens_per_day: limit, is_set: isSet } = found;
  return { used, isSet, ...(limit === undefined ? {} : { limit }) };
}

/** Whether there is anything to say of models at a site: it may use them, or has today. */
export function usesModels(grants: Grant[], share: Share): boolean {
  return share.used > 0 || share.isSet || grants.some(({ scope, grant_type }) => scope.startsWith("model:") && grant_type !== "DENY");
}

export function shareWords({ used, limit }: Share): string {
  const spent = `${count(used, "token").replace(/^\d+/, (digits) => Number(digits).toLocaleString("en"))} used today`;
  if (limit === undefined) return `${spent}, no limit`;
  return `${spent}, of ${limit.toLocaleString("en")}`;
}

/** When the bridge's day begins, which is one of UTC, by this machine's clock. */
export function dayBegins(now: number): string {
  const at = new Date(now);
  const begins = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate() + 1));
  return begins.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
}

/** Reads what is typed; `undefined`: it is no number of tokens. */
export function parseTokens(typed: string): number | undefined {
  const digits = typed.replace(/[\s,._']/g, "");
  const tokens = /^\d{1,15}$/.test(digits) ? Number(digits) : undefined;
  return tokens !== undefined && tokens <= MOST ? tokens : undefined;
}
