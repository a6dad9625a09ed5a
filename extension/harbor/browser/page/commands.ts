// What the background asks a document, and what it gets: one name each.
//
// Owns these forms; both sides take them from here.

import type { Kind } from "./failure.ts";
import type { Mode } from "./read.ts";
import type { Filter, Line } from "./snapshot.ts";
import type { Veil } from "./veil.ts";

export interface Offset {
  x: number;
  y: number;
}

/** `site`: what is typed is a secret of the person's, which they keep for this origin. `plain`: for a page; not into a secret field, and no window is opened. */
export interface Commands {
  snapshot: { filter: Filter; target?: string | undefined; depth?: number | undefined; boxes?: boolean | undefined };
  read: { mode: Mode; target?: string | undefined };
  /** What the page says, with where it is and what it is called. */
  article: Record<string, never>;
  /** One that a selector fits, if there is any. */
  element: { target: string };
  /** `at`: from the element's upper left corner, in CSS pixels. */
  click: { target: string; button: "left" | "right" | "middle"; count: 1 | 2; modifiers: string[]; at?: Offset | undefined; plain?: boolean };
  hover: { target: string };
  type: { target: string; text: string; submit: boolean; slowly: boolean; replace: boolean; site?: string | undefined };
  key: { key: string; times: number };
  select: { target: string; values: string[]; plain?: boolean };
  fill: { target: string; kind: string; value: string; site?: string | undefined; plain?: boolean };
  drag: { from: string; to: string; fromAt?: Offset | undefined; toAt?: Offset | undefined };
  scroll: { target?: string | undefined; to?: "top" | "bottom" | "place" | undefined; x: number; y: number };
  has: { text?: string | undefined; gone?: string | undefined; target?: string | undefined };
  place: { target?: string | undefined };
  /** Tells the page's own world which element is meant, by an event of that name. */
  mark: { target: string; name: string };
  /** What a field has. */
  value: { target: string };
  veil: { over: Veil };
  /** Where something stands that no picture for a page shows. */
  covers: Record<string, never>;
  /** Nothing is done but what comes with each answer. */
  note: Record<string, never>;
  /** A piece, base64, of the nth file of a transfer. `site`: for which origin the files are. */
  keep: { transfer: string; site: string | undefined; nth: number; file: FileFacts; data: string };
  upload: { target: string | undefined; transfer: string; site: string | undefined };
  /** `data`: kinds and texts. */
  drop: { target: string; transfer: string; site: string | undefined; data: [string, string][] };
}

/** A file that comes, as it is told of. */
export interface FileFacts {
  name: string;
  type: string;
  size: number;
}

export interface Replies {
  /** `path`: from the top, which of its parent's frames each is. */
  snapshot: { lines: Line[]; path: number[] };
  read: { text: string };
  article: { url: string; title: string; text: string };
  element: { element: ElementView | null };
  click: Done;
  hover: Done;
  type: Done;
  key: Done;
  select: Done;
  fill: Done;
  drag: Done;
  scroll: Done;
  has: { is: boolean };
  mark: Record<string, never>;
  value: { value: string };
  /** `before`: the veil that was there until now. */
  veil: { before: Veil };
  covers: { covers: Box[]; windowWidth: number };
  note: Record<string, never>;
  /** How much of the file is there. */
  keep: { has: number };
  upload: Done;
  drop: Done;
  /** In CSS pixels of the window; the page's size, and how many pixels of a picture one of them is. */
  place: { x: number; y: number; width: number; height: number; pageWidth: number; pageHeight: number; windowWidth: number; windowHeight: number; scrolledX: number; scrolledY: number; ratio: number };
}

/** An element. `matches`: how many fit. `value`: what stands in it, of a field. */
export interface ElementView {
  matches: number;
  tag: string;
  role: string;
  name: string;
  states: string[];
  text: string;
  value?: string;
  visible: boolean;
  box: Box;
}

/** In CSS pixels of the window. */
export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** What an action did. */
export interface Done {
  lines: string[];
  /** It set out for another document, or opened a window: the browser tells of that a little later. */
  begun?: "leaving" | "opening";
  /** What is to be opened in a tab of its own: a browser does that at a real press of the middle button only. */
  opens?: string;
}

export type Name = keyof Commands;

export interface Command<N extends Name = Name> {
  name: N;
  /** Which document this is, where it has not been told yet. */
  generation: number;
  highlight: boolean;
  /** Where the document has to be to do it; nothing: wherever it is. */
  place: string | undefined;
  options: Commands[N];
}

/** What came of it, and which document said so. `secrets`: what it has had in its secret fields, for nobody but the background. `notes`: what has become untrue of what was told before. */
export type Answer<N extends Name = Name> = { generation: number; secrets: string[]; notes: string[] } & ({ reply: Replies[N] } | { failure: { kind: Kind; message: string } });

/** The document has done nothing: it is there, and not where it had to be. */
export interface Elsewhere {
  elsewhere: string;
}

/** The name under which the page's own world keeps its dialogs and its console. */
export const KEPT = "__harborBrowserKept";

/** So much of a body is kept, in characters: more than is told, for nobody knows a piece of a secret at its end. */
export const MOST_OF_BODY = 52_000;

/** What a document's part asks its own world about effects of an action: events, which are refused where the answer is yes. */
export const EFFECTS = { begin: "harbor-begin", end: "harbor-end", timers: "harbor-timers", requests: "harbor-requests", opened: "harbor-opened" } as const;

/** The name under which a document has its part, among the extension's own. */
export const PART = "harborBrowserPart";
