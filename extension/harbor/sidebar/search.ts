// The search of the catalog: what was typed, what was found so far, and which answers still count.
//
// Pure. Must never show an answer to another question than the last one.

import type { CatalogEntry } from "../../shared/protocol/generated/messages.ts";

export interface Search {
  query: string;
  /** Counts what was asked: an answer to an earlier question is dropped. */
  turn: number;
  entries: CatalogEntry[] | undefined;
  next: string | undefined;
  total: number | undefined;
  /** The day of the entries, where no source was reached yet. */
  snapshot: string | undefined;
}

export const NO_SEARCH: Search = { query: "", turn: 0, entries: undefined, next: undefined, total: undefined, snapshot: undefined };

/** How long after the last letter is asked. */
export const TYPING_MS = 200;

interface Page {
  entries: CatalogEntry[];
  next_cursor?: string;
  total?: number;
  snapshot?: string;
}

/** Something else was typed. What was found stays until there is an answer, so that nothing flickers. */
export function typed(search: Search, query: string): Search {
  return { ...search, query, turn: search.turn + 1 };
}

/** A page has come: the first one of a question, or one more. */
export function found(search: Search, turn: number, page: Page, more: boolean): Search {
  if (turn !== search.turn) return search;
  const known = more ? (search.entries ?? []) : [];
  const ids = new Set(known.map(({ id }) => id));
  return {
    ...search,
    entries: [...known, ...page.entries.filter(({ id }) => !ids.has(id))],
    next: page.next_cursor,
    total: page.total,
    snapshot: page.snapshot,
  };
}
