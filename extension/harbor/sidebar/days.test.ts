// The log by days: what is chosen, what is one line, how a day is called.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Activity } from "./activity.ts";
import { ALL, chosenOf, dayWords, daysOf } from "./days.ts";

const NOON = new Date(2026, 4, 20, 12).getTime();
const call = (at: number, more: Partial<Activity> = {}): Activity => ({ at, origin: "https://a.example", what: "w/x", isTool: true, isCall: true, tone: "good", ended: "answered in 30 ms", ...more });

test("repeats are one line, but not over another caller, tool, end or day", () => {
  const list = [
    call(NOON, { ended: "answered in 1.5 s" }),
    call(NOON - 1),
    call(NOON - 2, { tone: "bad", ended: "timed out" }),
    call(NOON - 3),
    call(NOON - 4, { origin: "client://desk" }),
    call(NOON - 5, { what: "w/y" }),
    call(NOON - 86_400_000),
  ];
  assert.deepEqual(daysOf(list).map(({ lines }) => lines.map(({ all }) => all.length)), [[2, 1, 1, 1, 1], [1]]);
});

test("grants of one origin that follow each other are folded, so that calls are seen", () => {
  const grant = (at: number, what: string, origin = "https://a.example") => call(at, { what, origin, isTool: false, isCall: false, isGrant: true, tone: "idle" });
  const lines = daysOf([grant(NOON, "Allowed to use tools"), grant(NOON - 1, "Allowed to see tools"), call(NOON - 2), grant(NOON - 3, "Blocked", "https://b.example")])[0]?.lines;
  assert.deepEqual(lines?.map(({ is, all }) => [is, all.length]), [["grants", 2], ["one", 1], ["grants", 1]]);
});

test("a filter keeps whose it is, and what failed", () => {
  const { origin: _, ...mine } = call(1);
  const list = [call(3), call(2, { origin: "client://desk", tone: "warn", ended: "refused" }), mine];
  const of = (who: "all" | "sites" | "apps" | "you", failed = false) => chosenOf(list, { who, failed }).map(({ at }) => at);
  assert.deepEqual([of("all"), of("sites"), of("apps"), of("you"), of("all", true), of("sites", true)], [[3, 2, 1], [3], [2], [1], [2], []]);
  assert.equal(chosenOf(list, ALL).length, 3);
});

test("a day has the name that a person gives it", () => {
  const day = (at: number) => dayWords(new Date(at).setHours(0, 0, 0, 0), NOON);
  assert.deepEqual([day(NOON), day(NOON - 86_400_000), day(NOON - 2 * 86_400_000)], ["Today", "Yesterday", "Monday 18 May"]);
  assert.match(day(NOON - 400 * 86_400_000), /2025$/);
});
