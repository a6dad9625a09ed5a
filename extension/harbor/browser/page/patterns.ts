// The pattern that finds a value in text.
//
// Pure.

/** One of fewer characters is looked for as a word: it may be part of many others. */
const AS_WORD = 8;

const inHtml = (value: string): string => value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
const inMarkdown = (value: string): string => value.replace(/[\\*`[\]_]/g, "\\$&");

/** Finds a value as it is, and as it stands in a quoted text, in HTML, in Markdown that was made of text. */
export function patternOf(value: string): RegExp {
  const all = [value, JSON.stringify(value).slice(1, -1), inHtml(value), inHtml(value).replaceAll('"', "&quot;"), inMarkdown(value)];
  const forms = [...new Set(all)].map((form) => form.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("|");
  return value.length < AS_WORD ? new RegExp(`(?<![\\p{L}\\p{N}])(?:${forms})(?![\\p{L}\\p{N}])`, "gu") : new RegExp(forms, "gu");
}
