// The `@` list: where in a text it was asked for, and what is found.
//
// Pure. Must never take an address of mail for a wish: an `@` counts at the beginning of a word only.

export const GROUPS = ["Tabs", "Files", "Resources"] as const;
export type Group = (typeof GROUPS)[number];

export interface AtItem {
  group: Group;
  key: string;
  label: string;
  /** A second text, such as the host of a tab. */
  about?: string;
  /** Whether the label is ours; else it is a page's or a server's. Ours are found by every word. */
  isOurs?: true;
  choose(): void;
}

export interface Mention {
  /** Where the `@` stands. */
  from: number;
  query: string;
}

export interface At {
  mention: Mention;
  /** All that there is. */
  items: AtItem[];
  /** The one that Enter chooses, among those that are found. */
  at: number;
}

/** So many of a group are shown. */
const SHOWN = 6;

/** The wish that the caret stands in, if it stands in one. */
export function mentionAt(text: string, caret: number): Mention | undefined {
  const found = /(^|\s)@([^\s@]{0,60})$/.exec(text.slice(0, caret));
  return found === null ? undefined : { from: caret - (found[2] ?? "").length - 1, query: found[2] ?? "" };
}

/** A text without the wish. */
export function without(text: string, { from, query }: Mention): string {
  return text.slice(0, from) + text.slice(from + 1 + query.length);
}

/** What fits a query, group by group. */
export function foundIn(items: AtItem[], query: string): AtItem[] {
  const wanted = query.toLowerCase();
  const fits = ({ label, about = "", isOurs }: AtItem) => isOurs === true || `${label} ${about}`.toLowerCase().includes(wanted);
  return GROUPS.flatMap((group) => items.filter((item) => item.group === group && fits(item)).slice(0, SHOWN));
}

/** The next one, round and round. */
export const moved = (at: number, by: number, many: number): number => (many === 0 ? 0 : (at + by + many) % many);
