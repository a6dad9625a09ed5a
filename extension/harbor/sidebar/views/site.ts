// One site or AI client: what it may do, and what it did.
//
// Owns nothing but the order of that.

import { isClient } from "../clients.ts";
import { type Child, h } from "../dom.ts";
import type { Hands, View } from "../hands.ts";
import { iconOf } from "../icon.ts";
import { oneLine } from "../parts.ts";
import { sitesOf } from "../permissions.ts";
import type { Route } from "../route.ts";
import { hostOf } from "../site.ts";
import { heard, rows, watch } from "./activity.ts";
import { budgetOf, loadBudgets } from "./budget.ts";
import { heardBrowser, loadBrowser } from "./browser_tools.ts";
import { back } from "./head.ts";
import { permissionsOf, profileBadge } from "./sites.ts";
import { switchesOf } from "./switches.ts";

type Here = Extract<Route, { at: "site" }>;

export const site: View<Here> = {
  title: (_, { origin }) => hostOf(origin),
  enter: (hands, { origin }, signal) => {
    hands.change({ budgeting: undefined });
    watch(hands, origin, signal);
    loadBudgets(hands, signal);
    if (isClient(origin)) loadBrowser(hands, signal);
  },
  heard: (hands, { origin }, type, payload) => {
    heard(hands, type, origin);
    heardBrowser(hands, type, payload);
    if (type === "activity" || type === "grant_changed") loadBudgets(hands);
  },
  show: (hands, { origin }) => [
    back({ at: "sites" }, "Access"),
    h("div.server.head", {}, iconOf(hostOf(origin)), h("div.what", {}, h("h2", { tabindex: "-1", id: "title" }, oneLine(hostOf(origin))), h("p.soft", {}, isClient(origin) ? "AI app" : "Web site"))),
    ...switchesOf(hands, origin),
    h("h3.group", {}, "May do now"),
    ...mayDo(hands, origin),
    ...budgetOf(hands, origin),
    h("h3.group", {}, "What it did"),
    ...rows(hands, origin, "It has not done anything yet."),
  ],
};

function mayDo(hands: Hands, origin: string): Child[] {
  const mine = sitesOf((hands.state.grants ?? []).filter((grant) => grant.origin === origin));
  if (mine.length === 0) return [h("p.soft", {}, "Nothing. It must ask you first.")];
  return mine.map((one) => h("div.site", { key: one.profile }, profileBadge(one.profile), ...permissionsOf(hands, one)));
}
