// The page beside the panel: what may be done with it, and why not more.
//
// Pure. Owns the rule. Must never call a page one that goes by itself before it is known what fields it has and which sites the person blocked.

import type { PageRead } from "../../page/forms.ts";
import { type Hosts, saidOf } from "../../page/hosts.ts";
import type { Sensitive } from "../../page/sensitive.ts";
import type { PageToolsView } from "../../page_source/view.ts";

/** What the person chose for a site; nothing chosen is off. */
export type Choice = "on" | "off" | "never";

/** Under which name it is kept. */
export const choiceKey = (origin: string): string => `page ${origin}`;

/** Reads what is kept there. */
export const parseChoice = (kept: unknown): Choice | undefined => (kept === "on" || kept === "off" || kept === "never" ? kept : undefined);

export interface OpenPage {
  tab: number;
  /** Absent where the browser does not tell. */
  origin?: string | undefined;
  url?: string | undefined;
  /** The page's own words. */
  title?: string | undefined;
  isPrivate: boolean;
  isLoading: boolean;
}

export interface PageState {
  open: OpenPage | undefined;
  /** Whether the browser lets the extension read it now. */
  mayRead: boolean;
  /** Whether the browser gives pictures of tabs. */
  mayPicture: boolean;
  choice: Choice | undefined;
  /** `undefined`: the bridge has not said. */
  hosts: Hosts | undefined;
  /** The tools that it offers; `undefined`: not told yet. */
  tools: PageToolsView | undefined;
  /** What was read of it last. */
  read: PageRead | undefined;
  /** Whether the person looks at what was read. */
  isShown: boolean;
  /** What went wrong, in our words. */
  problem: string | undefined;
  /** A long page is summarised: which part, of how many. */
  progress: { part: number; of: number } | undefined;
  /** The tab in which the person picks an element. */
  picking: number | undefined;
}

export const NO_PAGE: PageState = {
  ...{ open: undefined, mayRead: false, mayPicture: false, choice: undefined, hosts: undefined, tools: undefined, read: undefined },
  ...{ isShown: false, problem: undefined, progress: undefined, picking: undefined },
};

/**
 * `none`: nothing can be read. `never`: nothing is. `click`: only the person's click attaches it, to one message. `off`: the same, and the
 * site may be switched on. `on`: it goes with each message.
 */
export interface Standing {
  is: "none" | "never" | "click" | "off" | "on";
  /** One line; absent where nothing has to be said. */
  why?: string;
}

const FIELDS: { [kind in Sensitive]: string } = { password: "a password field", code: "a field for a one-time code", card: "a card field" };
const ONCE = "Only your click attaches it, once.";

export const why = {
  none: "Harbor cannot see this page. On a web page, right-click and choose “Ask Harbor about this”.",
  unknown: "Harbor has not said which sites you blocked, so it reads no page. Wait until it is connected.",
  blocked: "You blocked this site in config.toml, so Harbor never reads it.",
  never: "You chose never for this site.",
  private: `This window is private. ${ONCE}`,
  askFirst: `You want to be asked first about this site. ${ONCE}`,
  fields: (kinds: Sensitive[]) => `This page has ${listed(kinds.map((kind) => FIELDS[kind]))}. ${ONCE}`,
} as const;

const listed = (words: string[]): string => (words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`);

export function standingOf({ open, choice, hosts, read }: Pick<PageState, "open" | "choice" | "hosts" | "read">): Standing {
  if (open?.origin === undefined || !/^https?:/.test(open.origin)) return { is: "none", why: why.none };
  if (hosts === undefined) return { is: "never", why: why.unknown };
  const said = saidOf(open.origin, hosts);
  if (said === "blocked") return { is: "never", why: why.blocked };
  if (choice === "never") return { is: "never", why: why.never };
  if (open.isPrivate) return { is: "click", why: why.private };
  if (said === "askFirst") return { is: "click", why: why.askFirst };
  if (read !== undefined && read.sensitive.length > 0) return { is: "click", why: why.fields(read.sensitive) };
  return { is: choice === "on" ? "on" : "off" };
}

/** The site of an address; `undefined`: it is no web page's. */
export function originOf(url: string | undefined): string | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined;
  const { origin, protocol } = new URL(url);
  return protocol === "http:" || protocol === "https:" ? origin : undefined;
}

/** Whether two addresses are of one document: what stands behind `#` is a place in it. */
export function isSameDocument(one: string, other: string): boolean {
  return one.split("#")[0] === other.split("#")[0];
}
