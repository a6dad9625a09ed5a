// The pattern that finds a value in text, and what is left of a text without values.
//
// Pure.

/** One of fewer characters is looked for as a word: it may be part of many others. */
const AS_WORD = 8;

/** A longer one is looked for in one piece: the pattern for a torn one grows with it, and so does the time that it takes. */
const LONGEST_TORN = 200;

/** What stands in the place of a value that is not told. */
const INSTEAD = "(not shown)";

/**
 * What may stand in the middle of a word where a page is read as HTML or Markdown. By its first character: what a value has in it
 * is no markup there, or one text would fit in so many ways that looking for it takes for ever.
 */
const MARKUP: [first: string, pattern: string][] = [["<", "<[^<>]*>"], ["*", "\\*"], ["_", "_"], ["`", "`"], ["[", "\\["], ["]", "\\]\\([^()]*\\)"]];

const inHtml = (value: string): string => value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
const inMarkdown = (value: string): string => value.replace(/[\\*`[\]_]/g, "\\$&");

/** Finds a value as it is, and as it stands in a quoted text, in HTML, in Markdown that was made of text. */
export function patternOf(value: string): RegExp {
  const all = [value, JSON.stringify(value).slice(1, -1), inHtml(value), inHtml(value).replaceAll('"', "&quot;"), inMarkdown(value)];
  const forms = [...new Set(all)].map(torn).join("|");
  return value.length < AS_WORD ? new RegExp(`(?<![\\p{L}\\p{N}])(?:${forms})(?![\\p{L}\\p{N}])`, "gu") : new RegExp(forms, "gu");
}

/** Finds a text also where markup tears it. */
function torn(text: string): string {
  const letters = [...text].map((letter) => letter.replace(/[\\^$.*+?()[\]{}|/]/, "\\$&"));
  const markup = MARKUP.flatMap(([first, pattern]) => (text.includes(first) ? [] : [pattern])).join("|");
  return letters.join(markup === "" || letters.length > LONGEST_TORN ? "" : `(?:${markup})*`);
}

/** The same without what the patterns find, in all texts of it. */
export function without<T>(told: T, patterns: RegExp[]): T {
  return (patterns.length === 0 ? told : cleaned(told, patterns)) as T;
}

function cleaned(told: unknown, patterns: RegExp[]): unknown {
  if (typeof told === "string") return patterns.reduce((text, pattern) => text.replace(pattern, INSTEAD), told);
  if (Array.isArray(told)) return told.map((one) => cleaned(one, patterns));
  if (typeof told !== "object" || told === null) return told;
  return Object.fromEntries(Object.entries(told).map(([name, value]) => [name, cleaned(value, patterns)]));
}
