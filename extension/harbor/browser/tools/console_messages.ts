// `browser_console_messages`: what the page wrote to its console, and its errors.

import { ToolError, numbers, texts } from "../call.ts";
import { type Tool, keptBy } from "../hand.ts";

const LEVELS = ["error", "warning", "info", "debug"];

export const consoleMessages: Tool = async ({ args, tab }) => {
  const most = LEVELS.indexOf(texts(args, "level") ?? "info");
  const pattern = texts(args, "pattern");
  const { console: all } = await keptBy(tab.id);
  const found = all.filter(({ level, text }) => rank(level) <= most && (pattern === undefined || matches(pattern, text)));
  const shown = found.slice(-(numbers(args, "limit") ?? 100));
  return { said: `${found.length} messages${shown.length < found.length ? `, the last ${shown.length} shown` : ""}.`, page: shown.map(({ level, text }) => `[${level}] ${text}`).join("\n") };
};

const rank = (level: string): number => (level === "error" ? 0 : level === "warn" ? 1 : level === "debug" ? 3 : 2);

function matches(pattern: string, text: string): boolean {
  try {
    return new RegExp(pattern, "i").test(text.slice(0, 1_000));
  } catch {
    throw new ToolError("pattern is no regular expression");
  }
}
