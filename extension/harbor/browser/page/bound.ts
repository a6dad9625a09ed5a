// A snapshot within its bound, searched, or as what has changed since another.
//
// Owns how lines become text. Must never drop anything in silence.

import type { Line } from "./snapshot.ts";

/** A line is cut there, in characters. */
const LONGEST_LINE = 1_000;

/** A page can make its title as long as it likes, in characters. */
export const LONGEST_TITLE = 300;

export const written = ({ depth, text }: Line): string => `${"  ".repeat(depth)}- ${text}`;

/** As many lines as fit into so many characters, and how many there are more. */
export function bounded(lines: string[], most: number): string {
  const kept = fitting(lines, most);
  const left = lines.length - kept.length;
  if (left > 0) kept.push(`… ${left} more lines. Take a part by target, filter: "viewport" or "interactive", or look with browser_find`);
  return kept.join("\n");
}

/** As many of the last ones as fit into so many characters, and how many there were before. */
export function lastOf(lines: string[], most: number): string {
  const kept = fitting(lines.toReversed(), most).reverse();
  const left = lines.length - kept.length;
  return [...(left > 0 ? [`… ${left} before these`] : []), ...kept].join("\n");
}

/** The first lines that fit into so many characters, each cut where it is too long. */
function fitting(lines: string[], most: number): string[] {
  let length = 0;
  const kept: string[] = [];
  for (const line of lines) {
    const cut = shortened(line, LONGEST_LINE);
    length += cut.length + 1;
    if (length > most) break;
    kept.push(cut);
  }
  return kept;
}

export const shortened = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most)}…` : text);

/** Lines with the text or the pattern, each with those around it and the path to it. At most `most` places, in so many characters. */
export function searched(lines: Line[], matches: (text: string) => boolean, most: number, mostChars: number): { text: string; count: number; shown: number } {
  const hits = lines.flatMap((line, index) => (matches(line.text) ? [index] : []));
  const shown = new Set<number>();
  const blocks: string[] = [];
  let [length, told] = [0, 0];
  for (const hit of hits.slice(0, most)) {
    if (shown.has(hit)) {
      told += 1;
      continue;
    }
    const block = [...pathTo(lines, hit), ...around(lines.length, hit)].filter((index) => !shown.has(index));
    for (const index of block) shown.add(index);
    const text = [...new Set(block)].sort((a, b) => a - b).map((index) => shortened(written(lines[index] as Line), LONGEST_LINE)).join("\n");
    length += text.length;
    if (length > mostChars) break;
    blocks.push(text);
    told += 1;
  }
  return { text: blocks.join("\n…\n"), count: hits.length, shown: told };
}

function pathTo(lines: Line[], index: number): number[] {
  const path: number[] = [];
  let depth = lines[index]?.depth ?? 0;
  for (let at = index - 1; at >= 0 && depth > 0; at -= 1) {
    const line = lines[at] as Line;
    if (line.depth < depth) {
      path.push(at);
      depth = line.depth;
    }
  }
  return path;
}

const around = (length: number, index: number): number[] => [index - 2, index - 1, index, index + 1, index + 2].filter((at) => at >= 0 && at < length);

/** What is in one of two snapshots only, with the path to it. */
export function difference(before: Line[], after: Line[]): string[] {
  const gone = missing(before, after);
  const come = missing(after, before);
  const marked = (lines: Line[], indices: Set<number>, mark: string) => {
    const paths = new Set([...indices].flatMap((index) => pathTo(lines, index)));
    return lines.flatMap((line, index) => {
      if (indices.has(index)) return [`${mark} ${written(line)}`];
      return paths.has(index) ? [`  ${written(line)}`] : [];
    });
  };
  const removed = before.flatMap((line, index) => (gone.has(index) ? [`- ${written(line)}`] : []));
  return [...marked(after, come, "+"), ...removed];
}

/** Which of the lines the others do not have, each as often as it is there more often. */
function missing(lines: Line[], others: Line[]): Set<number> {
  const counts = new Map<string, number>();
  for (const other of others) counts.set(written(other), (counts.get(written(other)) ?? 0) + 1);
  const found = new Set<number>();
  lines.forEach((line, index) => {
    const left = counts.get(written(line)) ?? 0;
    if (left === 0) found.add(index);
    else counts.set(written(line), left - 1);
  });
  return found;
}
