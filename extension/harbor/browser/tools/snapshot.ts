// `browser_snapshot`: the page as a tree of roles, names and refs.

import { isOn, numbers, texts } from "../call.ts";
import { SNAPSHOT_CHARS, type Tool } from "../hand.ts";
import { bounded, difference, written } from "../page/bound.ts";
import type { Filter } from "../page/snapshot.ts";

export const snapshot: Tool = async ({ args, tab, snapshots, mayUse }) => {
  const filter = (texts(args, "filter") ?? "all") as Filter;
  const target = texts(args, "target");
  const boxes = isOn(args, "boxes");
  const lines = await snapshots.take(tab.id, { filter, target, depth: numbers(args, "depth"), boxes }, mayUse);
  const most = numbers(args, "maxChars") ?? SNAPSHOT_CHARS;
  const given = texts(args, "since");
  const since = given === undefined ? undefined : Number(given);
  const before = since === undefined ? undefined : snapshots.before(tab.id, since);
  const isWhole = target === undefined && filter === "all" && !boxes;
  const number = isWhole ? snapshots.keep(tab.id, lines) : undefined;
  const called = number === undefined ? "" : ` Its number is ${number}: pass since: ${number} to get only the changes.`;
  if (since !== undefined && before !== undefined) {
    const changed = difference(before, lines);
    const said = changed.length === 0 ? `Nothing has changed since snapshot ${since}.` : `What has changed since snapshot ${since}.`;
    return { said: `${said}${called}`, page: bounded(changed, most) };
  }
  const lost = since === undefined ? "" : ` Snapshot ${since} is no longer kept, so this is the whole page.`;
  return { said: `A snapshot of the page.${lost}${called}`, page: bounded(lines.map(written), most) };
};
