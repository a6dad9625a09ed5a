// Who called what, when, and how it ended; of everybody, or of one site. Also what was asked and refused.
//
// Owns when the audit log is read again: at each call and answer of a page, and, since no event tells of AI clients, every few
// seconds while somebody looks.

import { type Child, type VNode, h } from "../dom.ts";
import { type Activity, activitiesOf, whoWords } from "../activity.ts";
import { type Day, type Line, type LogFilter, WHO, chosenOf, dayWords, daysOf } from "../days.ts";
import type { Hands, View } from "../hands.ts";
import { button, empty, failure, oneLine, waiting } from "../parts.ts";
import { hrefOf } from "../route.ts";
import type { Tone } from "../words.ts";

/** Lines of the log that are read. */
const LINES = 500;
const LOOK_MS = 5_000;

export const activity: View<{ at: "activity" }> = {
  title: () => "Log",
  enter: (hands, _, signal) => watch(hands, undefined, signal),
  heard: (hands, _, type) => heard(hands, type, undefined),
  show: (hands) => [
    h("h2.unseen", { tabindex: "-1", id: "title" }, "Log"),
    h("p.soft", {}, "Who used your tools, and how it ended. Arguments and results are never kept."),
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
  const { activity: known, logged } = hands.state;
  if (known === undefined || known.origin !== of) return [failure(hands, "activity"), waiting("Reading the log…")];
  if (known.list.length === 0) return [failure(hands, "activity"), empty(none)];
  const chosen = chosenOf(known.list, of === undefined ? logged : { ...logged, who: "all" });
  const days = daysOf(chosen).map((day) => dayOf(day, of === undefined));
  return [failure(hands, "activity"), filter(hands, of === undefined), chosen.length === 0 ? empty("Nothing of this kind happened lately.") : undefined, h("div.activity", { key: "days" }, ...days)];
}

const WHO_WORDS: { [who in (typeof WHO)[number]]: string } = { all: "All", sites: "Sites", apps: "Apps", you: "You" };

function filter(hands: Hands, ofAll: boolean): VNode {
  const { logged } = hands.state;
  // As it is when it is pressed: what is drawn may be a frame older.
  const choose = (patch: Partial<LogFilter>) => hands.change({ logged: { ...hands.state.logged, ...patch } });
  const one = (who: (typeof WHO)[number]) => button(WHO_WORDS[who], () => choose({ who }), { key: who, class: "segment", "data-who": who, "aria-pressed": String(logged.who === who) });
  const failed = button("Failed only", () => choose({ failed: !hands.state.logged.failed }), { key: "failed", class: "segment apart", id: "failed-only", "aria-pressed": String(logged.failed) });
  return h("div.segments", { key: "filter", role: "group", "aria-label": "What is shown" }, ...(ofAll ? WHO.map(one) : []), failed);
}

function dayOf({ begins, lines }: Day, named: boolean): VNode {
  const words = dayWords(begins, Date.now());
  return h("section", { key: String(begins), "aria-label": words }, h("h3.group", {}, words), h("ul.rows", {}, ...lines.map((line) => row(line, named))));
}

const MARKS: { [tone in Tone]: readonly [mark: string, said: string] } = {
  good: ["✓", "done"],
  bad: ["✕", "failed"],
  warn: ["⊘", "refused"],
  idle: ["–", ""],
  busy: ["–", ""],
};

/** One line, which opens to when and how each of it ended. */
function row({ is, all }: Line, named: boolean): VNode {
  const [newest, oldest] = [all[0], all.at(-1)];
  if (newest === undefined || oldest === undefined) return h("li");
  const folded = is === "grants" && all.length > 1;
  const [mark, said] = newest.isCall && newest.tone === "idle" ? (["⊘", "ended early"] as const) : MARKS[newest.tone];
  const what = folded ? "Access changed" : newest.what;
  const bad = !folded && newest.tone !== "good" && newest.isGrant !== true ? h("span.ended", {}, oneLine(newest.ended)) : undefined;
  return h(
    "li",
    // The oldest one stays it, while newer ones come to it.
    { key: `${oldest.at} ${oldest.what} ${oldest.origin} ${is}`, "data-tone": newest.tone },
    h(
      "details",
      {},
      h(
        "summary",
        {},
        h("span.mark", { "aria-hidden": "true" }, mark),
        h("span.unseen", {}, `${said} `),
        h(newest.isTool && !folded ? "span.what.mono" : "span.what", {}, oneLine(what)),
        all.length === 1 ? undefined : h("span.times", {}, ` ×${all.length}`),
        bad,
        named ? h("span.who", {}, " ", oneLine(whoWords(newest))) : undefined,
        h("time", { datetime: new Date(newest.at).toISOString() }, ` ${clockWords(newest.at)}`),
      ),
      opened(all, named),
    ),
  );
}

/** So many of a line are shown when it is opened. */
const MOST_OPENED = 50;

function opened(all: Activity[], named: boolean): VNode {
  const { origin } = all[0] ?? {};
  const site = named && origin !== undefined ? h("p", {}, h("a", { href: hrefOf({ at: "site", origin }) }, "What ", oneLine(whoWords({ origin })), " may do")) : undefined;
  const one = ({ at, what, isGrant, ended }: Activity) =>
    h("li", {}, h("time", { datetime: new Date(at).toISOString() }, new Date(at).toLocaleTimeString("en-GB")), " ", ...(isGrant === true ? [oneLine(what), ": "] : []), oneLine(ended));
  const rest = all.length > MOST_OPENED ? h("p.soft", {}, `And ${all.length - MOST_OPENED} more.`) : undefined;
  return h("div.opened", {}, h("ul", {}, ...all.slice(0, MOST_OPENED).map(one)), rest, site);
}

function clockWords(at: number): string {
  return new Date(at).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
}
