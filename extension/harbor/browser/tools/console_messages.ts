// `browser_console_messages`: what the page wrote to its console, and its errors.

import { fits, numbers, texts } from "../call.ts";
import type { Tool } from "../hand.ts";
import { keptBy } from "../kept.ts";
import { lastOf } from "../page/bound.ts";

/** So much of them is shown, in characters: the newest. */
const MOST_CHARS = 20_000;

const LEVELS = ["error", "warning", "info", "debug"];

export const consoleMessages: Tool = async (hand) => {
  const { args, tab, documents } = hand;
  const most = LEVELS.indexOf(texts(args, "level") ?? "info");
  const pattern = texts(args, "pattern");
  const isWanted = pattern === undefined ? () => true : fits("pattern", pattern, "i");
  await documents.awake(tab.id, 0);
  const { console: all } = await keptBy(hand);
  const found = all.filter(({ level, text }) => rank(level) <= most && isWanted(text));
  const shown = found.slice(-(numbers(args, "limit") ?? 100));
  return { said: `${found.length} messages${shown.length < found.length ? `, the last ${shown.length} shown` : ""}.`, page: lastOf(shown.map(({ level, text }) => `[${level}] ${text}`), MOST_CHARS) };
};

const rank = (level: string): number => (level === "error" ? 0 : level === "warn" ? 1 : level === "debug" ? 3 : 2);
