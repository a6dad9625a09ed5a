// What models have taken: by day, by who asked, with what each may take, and by chat.
//
// Owns the tables. Limits are changed at the site that they are of. Must never call an estimate a count.

import type { Budget, ChatSession, ModelUsage } from "../../../shared/protocol/generated/messages.ts";
import { shareOf } from "../budget.ts";
import { type Child, type VNode, h } from "../dom.ts";
import type { Hands } from "../hands.ts";
import { dollars } from "../money.ts";
import { failure, oneLine } from "../parts.ts";
import { hrefOf, parseRoute } from "../route.ts";
import { limitOf } from "../views/budget.ts";
import { whoWords } from "./words.ts";

/** So many days, and so many chats, are shown. */
const DAYS = 7;
const CHATS = 7;

export function usagePart(hands: Hands): Child[] {
  const { usage } = hands.state.providers;
  if (usage === undefined) return [failure(hands, "usage")];
  const { budgets } = hands.state;
  const limits_ = h("details", { key: "limits" }, h("summary", {}, "Limits"), ...limits(hands));
  if (usage.days.length === 0) return [h("p.soft", {}, "Nobody has asked a model in the last 30 days."), limits_, failure(hands, "usage")];
  return [
    table("Tokens by day", "Day", usage.days.slice(0, DAYS), (row) => row.day ?? ""),
    table("Tokens by who asked, 30 days", "Who", usage.principals, ({ principal = "" }) => who(principal), budgets === undefined ? undefined : ({ principal = "" }) => limitWords(principal, budgets)),
    ...byChat(usage.chats),
    h("p.soft", {}, "A day begins at midnight UTC. “about” marks what a provider did not count itself."),
    limits_,
    failure(hands, "usage"),
  ];
}

/** The chats that have used most among those of late. */
export function byChat(chats: ChatSession[]): VNode[] {
  const used = chats.flatMap((chat) => (chat.usage === undefined ? [] : [{ chat, usage: chat.usage, tokens: chat.usage.input_tokens + chat.usage.output_tokens }]));
  if (used.length === 0) return [];
  const most = used.sort((one, other) => other.tokens - one.tokens).slice(0, CHATS);
  const row = ({ chat, usage }: (typeof most)[number]) => {
    const name = h("a", { href: hrefOf({ at: "chat", id: chat.id }) }, oneLine(chat.name === "" ? "No name" : chat.name));
    const cost = usage.cost_microdollars === undefined ? "unknown" : dollars(usage.cost_microdollars);
    const cells = [tokensOf(usage.exactness, usage.input_tokens), tokensOf(usage.exactness, usage.output_tokens), cost];
    return h("tr", { key: chat.id }, h("th", { scope: "row" }, name), ...cells.map((one) => h("td", {}, one)));
  };
  return [framed("Tokens by chat, of late", ["Chat", "In", "Out", "Cost"], most.map(row))];
}

function table(caption: string, first: string, rows: ModelUsage[], name: (row: ModelUsage) => Child, limit?: (row: ModelUsage) => string): VNode {
  const heads = [first, "Requests", "In", "Out", "Cost", ...(limit === undefined ? [] : ["Limit a day"])];
  return framed(caption, heads, rows.map((row) => h("tr", {}, h("th", { scope: "row" }, name(row)), ...numbers(row).map((one) => h("td", {}, one)), limit === undefined ? undefined : h("td", {}, limit(row)))));
}

function framed(caption: string, heads: string[], rows: VNode[]): VNode {
  return h(
    "table.usage",
    { key: caption },
    h("caption", {}, caption),
    h("thead", {}, h("tr", {}, ...heads.map((head) => h("th", { scope: "col", key: head }, head)))),
    h("tbody", {}, ...rows),
  );
}

function tokensOf(exactness: string, number: number): string {
  return `${exactness === "exact" || number === 0 ? "" : "about "}${number.toLocaleString("en")}`;
}

/** The numbers of a row. */
export function numbers({ requests, input_tokens, output_tokens, exactness, cost_microdollars: cost, unpriced_requests: unpriced }: ModelUsage): string[] {
  return [requests.toLocaleString("en"), tokensOf(exactness, input_tokens), tokensOf(exactness, output_tokens), costWords(cost, unpriced, requests)];
}

/** What requests cost, as far as their prices are known. */
function costWords(cost: number, unpriced: number, requests: number): string {
  if (unpriced === 0) return dollars(cost);
  return unpriced >= requests ? "unknown" : `${dollars(cost)} without ${unpriced}`;
}

/** Who asked, with the way to where that one's limit stands. */
function who(principal: string): Child {
  const place = { at: "site", origin: principal } as const;
  if (parseRoute(hrefOf(place)).at !== "site") return oneLine(whoWords(principal));
  return h("a", { href: hrefOf(place) }, oneLine(whoWords(principal)));
}

/** What one may take in a day. */
export function limitWords(principal: string, budgets: { list: Budget[]; ofAnOrigin: number }): string {
  const found = budgets.list.find((one) => one.principal === principal);
  if (found === undefined && (principal === "owner" || principal === "*")) return "no limit";
  const { limit } = shareOf(principal, budgets);
  return limit === undefined ? "no limit" : limit.toLocaleString("en");
}

function limits(hands: Hands): Child[] {
  const { budgets } = hands.state;
  if (budgets === undefined) return [];
  const row = (principal: string, name: string, whose: string) => {
    const limit = budgets.list.find((one) => one.principal === principal)?.tokens_per_day;
    const words = limit === undefined ? "no limit" : `${limit.toLocaleString("en")} tokens a day`;
    return h("div", { key: principal, "data-limit": principal }, h("p", {}, `${name}: ${words}`), ...limitOf(hands, principal, whose, limit, `budget ${principal}`));
  };
  return [
    row("owner", "You", "yourself"),
    row("*", "Everybody together", "everybody together"),
    h("p.soft", {}, `A site or AI client: ${budgets.ofAnOrigin.toLocaleString("en")} tokens a day unless you set another number. Its page has that: follow its name above, or see `, h("a", { href: hrefOf({ at: "sites" }) }, "Access"), "."),
  ];
}
