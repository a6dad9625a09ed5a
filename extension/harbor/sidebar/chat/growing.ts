// A long list, table or code whose end is still to come: what is certain of it is not read again.
//
// Pure. Must never take for certain what more text could still change.
//
//   source  ─  …settled │ certain part of the block │ rest → read with the block's beginning before it, then joined

import type { Token, Tokens } from "marked";
import { visibleProse } from "../../../shared/text/visible.ts";
import type { GrowingCode } from "./code.ts";

/** So much of a block is read again each time: what its last lines are may still change. */
const SPARE = 3;
const LONG = 12;
const LONG_CODE = 1_000;

/** The certain part of a block. */
export interface Growing {
  token: Tokens.List | Tokens.Table | GrowingCode;
  /** What is read before the rest, so that the rest is what it is. */
  beginning: string;
}

/** Where the certain part of a block ends, and what is after it. */
export interface Grown extends Growing {
  length: number;
}

/** The certain part of the block, where it has one. */
export function grown(token: Token): Grown | undefined {
  if (token.type === "list") return ofList(token as Tokens.List);
  if (token.type === "table") return ofTable(token as Tokens.Table);
  return token.type === "code" ? ofCode(token as GrowingCode) : undefined;
}

function ofList(token: Tokens.List): Grown | undefined {
  if (token.items.length < LONG) return undefined;
  const items = token.items.slice(0, -SPARE);
  const raw = items.map((item) => item.raw).join("");
  if (!token.raw.startsWith(raw)) return undefined;
  return { token: { ...token, items }, beginning: "", length: raw.length };
}

function ofTable(token: Tokens.Table): Grown | undefined {
  const lines = token.raw.split("\n");
  if (token.rows.length < LONG || lines.length !== token.rows.length + 2) return undefined;
  const [head, certain] = [lines.slice(0, 2), lines.slice(0, -SPARE)];
  return { token: { ...token, rows: token.rows.slice(0, -SPARE) }, beginning: lined(head), length: lined(certain).length };
}

function ofCode(token: GrowingCode): Grown | undefined {
  const [first = "", ...lines] = token.raw.split("\n");
  const fence = /^ {0,3}(`{3,}|~{3,})/.exec(first)?.[1];
  const certain = lines.slice(0, -SPARE);
  if (fence === undefined || lined(certain).length < LONG_CODE || closes(lines, fence)) return undefined;
  const text = lined(token.text.split("\n").slice(0, certain.length));
  return { token: { ...token, text: "", certain: [{ text, shown: visibleProse(text) }] }, beginning: lined([first]), length: lined([first, ...certain]).length };
}

function closes(lines: string[], fence: string): boolean {
  return lines.some((line) => /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line)?.[1]?.startsWith(fence) === true);
}

const lined = (lines: string[]) => lines.map((line) => `${line}\n`).join("");

/** The block as a whole: what was certain of it, and what the rest was read as. Nothing if that is no part of it. It was never read at once. */
export function joined({ token: before }: Growing, rest: Token | undefined): Growing["token"] | undefined {
  if (before.type === "list" && rest?.type === "list" && rest["ordered"] === before.ordered) {
    const { items, loose } = rest as Tokens.List;
    return { ...before, raw: "", loose: before.loose || loose, items: [...before.items, ...items] };
  }
  if (before.type === "table" && rest?.type === "table") return { ...before, raw: "", rows: [...before.rows, ...(rest as Tokens.Table).rows] };
  if (before.type === "code" && rest?.type === "code") {
    const { text, certain = [] } = rest as GrowingCode;
    return { ...before, raw: "", text, certain: [...(before.certain ?? []), ...certain] };
  }
  return undefined;
}

/** The first token that more text can still change, and where it begins: two whole lines tell that a block has begun. */
export function certainOf(source: string, tokens: Token[]): { cut: number; at: number } {
  let [at, found] = [0, { cut: 0, at: 0 }];
  for (const [cut, { type, raw }] of tokens.entries()) {
    const line = source.indexOf("\n", at);
    if (line < 0 || source.indexOf("\n", line + 1) < 0) break;
    if (type !== "space") found = { cut, at };
    // The end is read as what it will likely be.
    if (!source.startsWith(raw, at)) break;
    at += raw.length;
  }
  return found;
}
