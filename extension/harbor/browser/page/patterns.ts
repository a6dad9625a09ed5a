// The pattern that finds a value in text.
//
// Pure.

/** One of fewer characters is looked for as a word: it may be part of many others. */
const AS_WORD = 8;

/** Finds a value as it is, and as it stands in a quoted text. */
export function patternOf(value: string): RegExp {
  const forms = [value, JSON.stringify(value).slice(1, -1)].map((form) => form.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("|");
  return value.length < AS_WORD ? new RegExp(`(?<![\\p{L}\\p{N}])(?:${forms})(?![\\p{L}\\p{N}])`, "gu") : new RegExp(forms, "gu");
}
