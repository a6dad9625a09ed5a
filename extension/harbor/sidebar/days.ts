// What was done, as the log shows it: what the person wants to see of it, by days, with repeats as one line and grants folded.
//
// Pure. Must never hide a call or a refusal behind another one: what is one line has one caller, one tool and one kind of end.

import type { Activity } from "./activity.ts";

export const WHO = ["all", "sites", "apps", "you"] as const;

export interface LogFilter {
  who: (typeof WHO)[number];
  /** Only what failed or was refused. */
  failed: boolean;
}

export const ALL: LogFilter = { who: "all", failed: false };

/** One line: the newest comes first; all are alike. */
export interface Line {
  is: "one" | "grants";
  all: Activity[];
}

export interface Day {
  /** Its first moment, on this machine's clock. */
  begins: number;
  lines: Line[];
}

export function chosenOf(list: Activity[], { who, failed }: LogFilter): Activity[] {
  return list.filter((one) => (who === "all" || whoseOf(one) === who) && (!failed || one.tone === "bad" || one.tone === "warn"));
}

function whoseOf({ origin }: Activity): LogFilter["who"] {
  if (origin === undefined) return "you";
  return origin.startsWith("client://") ? "apps" : "sites";
}

/** By days, the newest first, as the list is. */
export function daysOf(list: Activity[]): Day[] {
  const days: Day[] = [];
  for (const one of list) {
    const begins = dayOf(one.at);
    if (days.at(-1)?.begins !== begins) days.push({ begins, lines: [] });
    put(days.at(-1)?.lines ?? [], one);
  }
  return days;
}

export function dayOf(at: number): number {
  return new Date(at).setHours(0, 0, 0, 0);
}

function put(lines: Line[], one: Activity): void {
  const last = lines.at(-1);
  const [before] = last?.all ?? [];
  const is = one.isGrant === true ? "grants" : "one";
  const isAlike = before !== undefined && last?.is === is && before.origin === one.origin && (is === "grants" || (before.what === one.what && endOf(before) === endOf(one)));
  if (isAlike) last.all.push(one);
  else lines.push({ is, all: [one] });
}

/** The end of a call without how long it took. */
function endOf({ tone, ended }: Activity): string {
  return `${tone} ${ended.replace(/[\d.,]+ m?s\b/, "").replace(/[\d.,]+ tokens?/, "")}`;
}

/** A day, for a person. */
export function dayWords(begins: number, now: number): string {
  const today = dayOf(now);
  if (begins === today) return "Today";
  // A day may have an hour more or less.
  if (begins === dayOf(today - 1)) return "Yesterday";
  const year = new Date(begins).getFullYear() === new Date(now).getFullYear() ? {} : ({ year: "numeric" } as const);
  return new Date(begins).toLocaleDateString("en-GB", { weekday: "long", day: "numeric", month: "long", ...year });
}
