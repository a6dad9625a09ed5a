// Two texts, line by line: what went and what came; and a tool's parts, before and after.
//
// Pure. Must never take long: texts of servers may be made to be slow.

import { isFields } from "../../shared/ports/wire.ts";

export interface Line {
  sign: "-" | "+" | " ";
  text: string;
}

/** More comparisons than these are not made: the whole counts as gone and come. */
const MOST = 250_000;

/** So many lines that are the same stand around a change. */
const AROUND = 2;

/** What a tool says of itself, as far as it is compared. */
const PARTS = ["title", "description", "inputSchema", "outputSchema", "annotations"] as const;

/** One of them that is another now. */
export interface PartChange {
  part: (typeof PARTS)[number];
  before: string;
  after: string;
  lines: Line[];
}

/** What is different in a tool. */
export function changedParts(before: unknown, after: unknown): PartChange[] {
  const part = (tool: unknown, name: string) => textOf(isFields(tool) ? tool[name] : undefined);
  return PARTS.flatMap((name) => {
    const [old, now] = [part(before, name), part(after, name)];
    return old === now ? [] : [{ part: name, before: old, after: now, lines: diff(old, now) }];
  });
}

/** What a part is called, as the beginning of a sentence. */
export const PART_WORDS: { [part in PartChange["part"]]: string } = {
  title: "Its title",
  description: "Its description",
  inputSchema: "Its arguments",
  outputSchema: "Its result",
  annotations: "Its declared effects",
};

function textOf(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

/** The lines that differ, with some around them. */
export function diff(before: string, after: string): Line[] {
  const [old, now] = [split(before), split(after)];
  const all = old.length * now.length > MOST ? [...marked("-", old), ...marked("+", now)] : compared(old, now);
  const near = (at: number) => all.slice(Math.max(0, at - AROUND), at + AROUND + 1).some(({ sign }) => sign !== " ");
  return all.filter((_, at) => near(at));
}

const split = (text: string) => (text === "" ? [] : text.split("\n"));
const marked = (sign: Line["sign"], texts: string[]): Line[] => texts.map((text) => ({ sign, text }));

/** By the longest common part. */
function compared(old: string[], now: string[]): Line[] {
  const width = now.length + 1;
  const longest = new Uint32Array((old.length + 1) * width);
  const at = (i: number, j: number) => longest[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      longest[i * width + j] = old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      lines.push({ sign: " ", text: old[i] ?? "" });
      [i, j] = [i + 1, j + 1];
    } else if (i < old.length && (j >= now.length || at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ sign: "-", text: old[i++] ?? "" });
    } else {
      lines.push({ sign: "+", text: now[j++] ?? "" });
    }
  }
  return lines;
}
