// What drawing an answer needs, and what has been drawn and is not drawn again.
//
// Owns the drawn blocks, items and rows of one answer. Must never keep what was drawn in part, or waits for colours.

import type { Child } from "../dom.ts";
import type { Highlighting } from "./highlighting.ts";

export interface MarkdownOptions {
  /** The person wants to go there. Where the address carries data they are to be asked first. */
  openLink(url: string, carriesData: boolean): void;
  /** Says something for a moment. */
  say(words: string): void;
  /** Has the answer shown again: something has changed besides its text. Without it nothing long can be opened. */
  refresh?: (() => void) | undefined;
  /** Without it code has no colours. */
  highlighting?: Highlighting | undefined;
}

export interface Drawing {
  options: MarkdownOptions;
  kept: Kept;
  /** How many items and rows may still be drawn. */
  left: number;
  /** How many were left out. */
  missing: number;
  /** True if something will look different when the colours are there. */
  waits: boolean;
  /** True while the block may go on. */
  growing: boolean;
}

interface Drawn {
  how: string;
  child: Child;
  cost: number;
}

export class Kept {
  readonly all = new WeakMap<object, Drawn>();
  /** How many were drawn so far. */
  drawn = 0;
}

/** Draws it, unless it was drawn the same way before. */
export function drawnOnce(what: object, how: string, drawing: Drawing, draw: () => Child): Child {
  const { kept } = drawing;
  const before = kept.all.get(what);
  if (before?.how === how) {
    drawing.left -= before.cost;
    return before.child;
  }
  const { left, missing, waits } = drawing;
  drawing.waits = false;
  const child = draw();
  kept.drawn += 1;
  if (!drawing.waits && drawing.missing === missing) kept.all.set(what, { how, child, cost: left - drawing.left });
  drawing.waits ||= waits;
  return child;
}
