// `browser_console_messages`: what the page wrote to its console, and its errors.

import { fits, numbers, texts } from "../call.ts";
import { type Tool, keptBy } from "../hand.ts";

const LEVELS = ["error", "warning", "info", "debug"];

export const consoleMessages: Tool = async ({ args, tab }) => {
  const most = LEVELS.indexOf(texts(args, "level") ?? "info");
  const pattern = texts(args, "pattern");
  const isWanted = pattern === undefined ? () => true : fits("pattern", pattern, "i");
  const { console: all } = await keptBy(tab);
  const found = all.filter(({ level, text }) => rank(level) <= most && isWanted(text));
  const shown = found.slice(-(numbers(args, "limit") ?? 100));
  return { said: `${found.length} messages${shown.length < found.length ? `, the last ${shown.length} shown` : ""}.`, page: shown.map(({ level, text }) => `[${level}] ${text}`).join("\n") };
};

const rank = (level: string): number => (level === "error" ? 0 : level === "warn" ? 1 : level === "debug" ? 3 : 2);
