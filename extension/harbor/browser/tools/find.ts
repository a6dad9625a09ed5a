// `browser_find`: where a text or a pattern stands in the snapshot of the whole page.
//
// Where a meaning is looked for, the bridge gets the page, and asks for the places by their refs then.

import { ToolError, fits, numbers, texts } from "../call.ts";
import type { Tool } from "../hand.ts";
import { bounded, searched, written } from "../page/bound.ts";
import { isRest } from "../page/rest.ts";

const MOST = 20;
const MOST_CHARS = 20_000;

export const find: Tool = async ({ args, tab, snapshots, mayUse }) => {
  const [text, regex] = [texts(args, "text"), texts(args, "regex")];
  if (texts(args, "meaning") !== undefined) {
    const all = (await snapshots.take(tab.id, { filter: "all" }, mayUse)).map(written);
    const most = numbers(args, "maxChars") ?? MOST_CHARS;
    const length = all.reduce((sum, line) => sum + line.length + 1, 0);
    return { said: "The page.", page: bounded(all, most), structured: { whole: length <= most } };
  }
  if ((text === undefined) === (regex === undefined)) throw new ToolError("say what to look for: text, or regex");
  const lines = await snapshots.take(tab.id, { filter: "all" }, mayUse);
  const { text: found, count, shown } = searched(lines, matcher(text, regex), MOST, MOST_CHARS);
  const rest = lines.some(isRest) ? " The page is too long to be looked at as a whole, and its rest was not: browser_read has its text, and a snapshot with target a part." : "";
  if (count === 0) return { said: `Nothing was found.${rest}` };
  return { said: `${count} found${count > shown ? `, the first ${shown} shown` : ""}.${rest}`, page: found };
};

function matcher(text: string | undefined, regex: string | undefined): (line: string) => boolean {
  if (text !== undefined) {
    const wanted = text.toLowerCase();
    return (line) => line.toLowerCase().includes(wanted);
  }
  const [, pattern = regex ?? "", flags = ""] = /^\/(.*)\/([a-z]*)$/s.exec(regex ?? "") ?? [];
  // Those that keep a place between two texts are of no use here.
  return fits("regex", pattern, flags.replace(/[gy]/g, ""));
}
