// What a site has used of models, and how much it may: shown, and changed.
//
// Owns its form. Must never give a site a model: that is a grant.

import { dayBegins, parseTokens, shareOf, shareWords, usesModels } from "../budget.ts";
import { type Child, h } from "../dom.ts";
import type { Hands } from "../hands.ts";
import { button, failure, field } from "../parts.ts";
import { hostOf } from "../site.ts";

const READ = "budgets";

/** Reads all budgets. */
export function loadBudgets(hands: Hands, left?: AbortSignal): void {
  hands.read(READ, async (signal) => {
    const { budgets, of_an_origin } = await hands.ask("llm_list_budgets", {}, { signal });
    hands.change({ budgets: { list: budgets, ofAnOrigin: of_an_origin } });
  }, left);
}

/** What stands at a site; nothing where it has nothing to do with models. */
export function budgetOf(hands: Hands, origin: string): Child[] {
  const { budgets, grants = [] } = hands.state;
  if (budgets === undefined) return [failure(hands, READ)];
  const share = shareOf(origin, budgets);
  if (!usesModels(grants.filter((grant) => grant.origin === origin), share)) return [];
  return [
    h("h3.group", {}, "Your models"),
    h("p", { id: "used" }, shareWords(share)),
    share.limit === undefined ? undefined : h("progress.use", { key: "use", "aria-labelledby": "used", max: Math.max(share.limit, 1), value: String(Math.min(share.used, share.limit)), "data-full": share.used >= share.limit ? "true" : undefined }),
    h("p.soft", {}, `It counts anew each day at ${dayBegins(Date.now())}. At the limit, requests are refused until then.`),
    ...limitOf(hands, origin, hostOf(origin), share.limit),
  ];
}

/** The way to another limit, and its form. `whose`: as the person calls it. */
export function limitOf(hands: Hands, origin: string, whose: string, limit: number | undefined, id = "budget"): Child[] {
  const { budgeting } = hands.state;
  const open = () => {
    hands.change({ budgeting: { origin, typed: String(limit ?? "") } });
    queueMicrotask(() => document.getElementById("tokens")?.scrollIntoView({ block: "nearest" }));
  };
  const way = h("p.buttons", {}, button("Change limit", open, { id, class: "small", "aria-label": `Change the daily limit of ${whose}` }));
  return [...(budgeting?.origin === origin ? form(hands, origin, budgeting) : [way]), failure(hands, actOf(origin))];
}

const actOf = (origin: string) => `budget ${origin}`;

function form(hands: Hands, origin: string, { typed, problem }: { typed: string; problem?: string | undefined }): Child[] {
  const input = ({ target }: Event) => hands.change({ budgeting: { origin, typed: (target as HTMLInputElement).value } });
  const save = () => {
    const tokens = parseTokens(typed);
    if (tokens === undefined) hands.change({ budgeting: { origin, typed, problem: "A whole number of tokens" } });
    else set(hands, origin, tokens);
  };
  const busy = hands.isBusy(actOf(origin));
  return [
    field({ id: "tokens", label: "Tokens a day", problem }, (props) => h("input", { ...props, inputmode: "numeric", autocomplete: "off", value: typed, on: { input } })),
    h(
      "p.buttons",
      {},
      button("Save", save, { id: "save-budget", busy }),
      button("Use the default", () => set(hands, origin, undefined), { id: "default-budget", class: "quiet", busy }),
      button("Cancel", () => hands.change({ budgeting: undefined }), { class: "quiet" }),
    ),
  ];
}

function set(hands: Hands, origin: string, tokens: number | undefined): void {
  hands.act(actOf(origin), async (signal) => {
    await hands.ask("llm_set_budget", { principal: origin, ...(tokens === undefined ? {} : { tokens_per_day: tokens }) }, { signal });
    const { budgets, of_an_origin } = await hands.ask("llm_list_budgets", {}, { signal });
    hands.change({ budgets: { list: budgets, ofAnOrigin: of_an_origin }, budgeting: undefined });
    hands.say("Limit saved");
  });
}
