// Who called what, when, and how it ended; of everybody, or of one site. Also what was asked and refused.
//
// Owns when the audit log is read again: at each call and answer of a page, and, since no event tells of AI clients, every few
// seconds while somebody looks.

import { type Child, type VNode, h } from "../dom.ts";
import { type Activity, activitiesOf, whoWords } from "../activity.ts";
import type { Hands, View } from "../hands.ts";
import { empty, failure, oneLine, waiting } from "../parts.ts";
import { hrefOf } from "../route.ts";
import { timeWords } from "../words.ts";

/** Lines of the log that are read. */
const LINES = 500;
const LOOK_MS = 5_000;

export const activity: View<{ at: "activity" }> = {
  title: () => "Activity",
  enter: (hands, _, signal) => watch(hands, undefined, signal),
  heard: (hands, _, type) => heard(hands, type, undefined),
  show: (hands) => [
    h("h2.unseen", { tabindex: "-1", id: "title" }, "Activity"),
    h("p.soft", {}, "What sites, AI clients and you did with your tools. Arguments and results are never recorded."),
    ...rows(hands, undefined, "Nothing has happened yet. Calls, questions and refusals appear here."),
  ],
};

/** Reads the log, and again as long as the signal lives. */
export function watch(hands: Hands, origin: string | undefined, signal: AbortSignal): void {
  if (hands.state.activity?.origin !== origin) hands.change({ activity: undefined });
  load(hands, origin, signal);
  const timer = setInterval(() => document.visibilityState === "visible" && load(hands, origin, signal), LOOK_MS);
  signal.addEventListener("abort", () => clearInterval(timer));
}

export function heard(hands: Hands, type: string, origin: string | undefined): void {
  if (type === "activity" || type === "grant_changed") load(hands, origin);
}

function load(hands: Hands, origin: string | undefined, left?: AbortSignal): void {
  hands.read("activity", async (signal) => {
    const { records } = await hands.ask("host_get_audit", { limit: LINES, ...(origin === undefined ? {} : { origin }) }, { signal });
    hands.change({ activity: { origin, list: activitiesOf(records) } });
  }, left);
}

/** `of`: the site whose activity it is. */
export function rows(hands: Hands, of: string | undefined, none: string): Child[] {
  const { activity: known } = hands.state;
  if (known === undefined || known.origin !== of) return [failure(hands, "activity"), waiting("Reading the log…")];
  if (known.list.length === 0) return [failure(hands, "activity"), empty(none)];
  return [failure(hands, "activity"), h("ul.rows.activity", {}, ...known.list.map((one) => row(one, of === undefined)))];
}

function row(one: Activity, named: boolean): VNode {
  const { at, origin, what, isTool, tone, ended } = one;
  const who = origin === undefined || origin.startsWith("client://") ? oneLine(whoWords(one)) : h("a", { href: hrefOf({ at: "site", origin }) }, oneLine(whoWords(one)));
  return h(
    "li",
    { key: `${at} ${what} ${origin}`, "data-tone": tone },
    h("p.what", {}, h(isTool ? "span.name.mono" : "span.name", {}, oneLine(what))),
    h("p.standing", { "data-tone": tone }, h("span.words", {}, ended)),
    h("p.soft", {}, h("time", { datetime: new Date(at).toISOString() }, timeWords(at)), ...(named ? [" · ", who] : [])),
  );
}
