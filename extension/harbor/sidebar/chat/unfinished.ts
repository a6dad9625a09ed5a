// The end of an answer that is still being written, read as what it will most likely be.
//
// Pure. Must never touch anything but the last line or two: it is what is shown until more comes.

/** A line that becomes something else with its next letter: a rule, a fence, a heading of the line above. */
const BEGINNING = /(?:^|\n)[ \t]*[-=*_`~|: \t]+$/;

/** A link or picture that is not closed. Its address may be half of one, so only its text is shown. */
const OPEN_LINK = /(!?)\[([^[\]\n]*)(?:\]\([^()\n]*|\])?$/;

/** Where the text begins that marks may enclose: a paragraph, an item, a cell. */
const START = /\n[ \t]*(?:\n|[-*+>#|]|\d{1,9}[.)][ \t])/g;

export function likely(source: string): string {
  if (isInFence(source)) return source;
  const text = source.replace(BEGINNING, "");
  const start = [...text.slice(-2_000).matchAll(START)].at(-1)?.index ?? 0;
  const at = Math.max(0, text.length - 2_000) + start;
  return text.slice(0, at) + closed(text.slice(at));
}

function isInFence(source: string): boolean {
  let open: string | undefined;
  for (const [, fence = "", info = ""] of source.matchAll(/^[ \t]*(?:(?:[-*+>]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})(.*)$/gm)) {
    if (open === undefined) open = fence;
    else if (fence.startsWith(open) && info.trim() === "") open = undefined;
  }
  return open !== undefined;
}

/** The text with its open marks closed, the last one first. */
function closed(text: string): string {
  const run = openCode(text);
  if (run === undefined) return withMarks(withoutLink(text).replace(/(?<=^|\s)[*_~]{1,3}$/, ""));
  const inside = text.replace(/`+$/, "");
  return inside + (openCode(inside) ?? "");
}

/** The backquotes that begin code which does not end. */
function openCode(text: string): string | undefined {
  return /`+/.exec(text.replace(/(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)/gs, ""))?.[0];
}

function withoutLink(text: string): string {
  const open = OPEN_LINK.exec(text);
  return open === null ? text : text.slice(0, open.index) + (open[1] === "!" ? "" : (open[2] ?? ""));
}

function withMarks(text: string): string {
  const marks = openMarks(text);
  // `**bold*` lacks one star only.
  const isHalf = /[^*\s]\*$/.test(text) && openMarks(text.slice(0, -1)).at(-1) === "**";
  if (marks.length === 0 || marks.length > 3) return text;
  return (isHalf ? text.slice(0, -1) : text).trimEnd() + marks.reverse().join("");
}

/** The marks that are not closed. One that stands between two letters, or alone, opens nothing. */
function openMarks(text: string): string[] {
  const marks: string[] = [];
  for (const [mark, before = "", , after = ""] of text.replace(/\\./g, "xx").matchAll(/(?<=(.?))(\*\*|~~|\*)(?=(.?))/gs)) {
    if (marks.at(-1) === mark && /\S/.test(before)) marks.pop();
    else if (/^$|[\s\p{P}~]/u.test(before) && /\S/.test(after)) marks.push(mark);
  }
  return marks;
}
