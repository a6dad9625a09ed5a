// An answer in Markdown, as the sidebar shows it, also while it is being written.
//
// Owns what of a text is settled: more of the text has only its last block read and drawn again. Must never throw, load anything
// or parse HTML, whatever a model writes.
//
//   text ─► what is settled: drawn once │ its last blocks: read again with each piece ─► children of the vdom

import type { Token } from "marked";
import { visibleProse } from "../../../shared/text/visible.ts";
import { type Child, h } from "../dom.ts";
import { button } from "../parts.ts";
import { block } from "./blocks.ts";
import { type Drawing, Kept, type MarkdownOptions, drawnOnce } from "./drawing.ts";
import { type Growing, certainOf, grown, joined } from "./growing.ts";
import { lexed } from "./lexer.ts";
import { likely } from "./unfinished.ts";

export type { MarkdownOptions } from "./drawing.ts";

/** What is longer is cut: no answer of a model is. */
export const MOST_TEXT = 400_000;
/** So many items and rows of a block are shown at first. */
export const MOST_ITEMS = 1_000;
/** A block that is longer and cannot be read in parts is read again only when it has grown by an eighth. */
const LONG_BLOCK = 8_000;

/** A text that does not change. */
export function markdown(text: string, options: MarkdownOptions): Child[] {
  return new MarkdownView(options).show(text);
}

/** The text of one message, and what is known of it. */
export class MarkdownView {
  readonly #options: MarkdownOptions;
  readonly #kept = new Kept();
  /** The blocks of which all is shown, by their places. */
  readonly #whole = new Set<number>();
  #source = "";
  #settled: Token[] = [];
  /** What is settled and will look as it does, by its place. */
  readonly #finished = new Map<number, Child>();
  /** Where the text begins that is not settled. */
  #at = 0;
  #growing: Growing | undefined;
  #last: Last = NOTHING;
  #defines = false;
  /** How many characters were read so far. */
  lexed = 0;

  constructor(options: MarkdownOptions) {
    this.#options = options;
  }

  /** How many blocks, items and rows were drawn so far. */
  get drawn(): number {
    return this.#kept.drawn;
  }

  /** What there is to see of the text. `streaming`: more of it will come. */
  show(text: string, streaming = false): Child[] {
    const source = lined(text, streaming);
    if (!source.startsWith(this.#source)) {
      this.#forget();
      this.#whole.clear();
    }
    this.#source = source;
    const tail = source.slice(this.#at);
    const { source: before } = this.#last;
    if (streaming && before.length > LONG_BLOCK && tail.length < before.length * 1.125 && tail.startsWith(before)) {
      return [...this.#children(true), h("p.lines", { key: "more", dir: "auto" }, visibleProse(tail.slice(before.length)))];
    }
    // What is defined at the end is meant from the beginning.
    if (!streaming && this.#defines && this.#at > 0) this.#forget();
    if (this.#last.source !== tail || this.#last.streaming !== streaming) this.#read(source.slice(this.#at), streaming);
    const cut = text.length > MOST_TEXT && h("p.soft", { key: "cut" }, "The rest is too long to be shown here. A copy has all of it.");
    return [...this.#children(streaming), cut];
  }

  #forget(): void {
    [this.#settled, this.#at, this.#growing, this.#last, this.#defines] = [[], 0, undefined, NOTHING, false];
    this.#finished.clear();
  }

  #read(tail: string, streaming: boolean): void {
    const { beginning = "" } = this.#growing ?? {};
    const source = beginning + tail;
    const shown = streaming ? likely(source) : source;
    this.lexed += shown.length;
    const { tokens, defines } = lexed(shown);
    this.#defines ||= defines;
    const known = new Map(this.#last.tokens.map((token) => [`${token.type} ${token.raw}`, token]));
    const blocks = tokens.map((token) => known.get(`${token.type} ${token.raw}`) ?? token);
    const whole = this.#growing && joined(this.#growing, tokens[0]);
    if (whole !== undefined) {
      blocks[0] = whole;
    } else if (this.#growing !== undefined) {
      this.#settled.push(this.#growing.token);
      this.#growing = undefined;
    }
    this.#last = { source: tail, tokens: blocks, streaming };
    if (streaming) this.#settle(source, beginning.length, tokens);
  }

  /** Puts away what more text cannot change: the blocks before the last, and the certain part of that one. */
  #settle(source: string, beginning: number, tokens: Token[]): void {
    const { cut, at } = certainOf(source, tokens);
    const rest = this.#last.tokens.slice(cut);
    this.#settled.push(...this.#last.tokens.slice(0, cut));
    if (cut > 0) this.#growing = undefined;
    const token = tokens[cut];
    const more = token === undefined ? undefined : grown(token);
    const stays = more !== undefined && source.startsWith((token?.raw ?? "").slice(0, more.length), at);
    const end = stays ? at + more.length : at;
    if (stays) {
      const { beginning: before, token: part } = more;
      this.#growing = { beginning: before, token: (this.#growing && joined(this.#growing, part)) ?? part };
    }
    // What is read again has the beginning in it already.
    if (cut > 0 || stays) this.#at += end - beginning;
    this.#last = { ...this.#last, source: this.#source.slice(this.#at), tokens: rest };
  }

  #children(streaming: boolean): Child[] {
    const blocks = [...this.#settled, ...this.#last.tokens];
    return blocks.map((token, at) =>
      this.#finished.has(at) ? this.#finished.get(at) : this.#child(token, at, streaming && at === blocks.length - 1),
    );
  }

  #child(token: Token, at: number, growing: boolean): Child {
    const [whole, { refresh }] = [this.#whole.has(at), this.#options];
    const drawing: Drawing = { options: this.#options, kept: this.#kept, left: whole ? Infinity : MOST_ITEMS, missing: 0, waits: false, growing };
    const child = drawnOnce(token, String(whole), drawing, () => block(token, drawing));
    if (drawing.missing === 0) {
      if (at < this.#settled.length && !drawing.waits) this.#finished.set(at, child);
      return child;
    }
    const all = () => {
      this.#whole.add(at);
      refresh?.();
    };
    const more = refresh === undefined ? h("p.soft", {}, `${drawing.missing} more are not shown here`) : button(`Show ${drawing.missing} more`, all);
    return h("div.long", {}, child, more);
  }
}

interface Last {
  source: string;
  tokens: Token[];
  streaming: boolean;
}

const NOTHING: Last = { source: "", tokens: [], streaming: false };

/** Lines end with a line feed. Half a letter is none. */
function lined(text: string, streaming: boolean): string {
  const source = text.slice(0, MOST_TEXT).replace(/\r\n?/g, "\n");
  return streaming ? source.replace(/[\uD800-\uDBFF]$/, "") : source;
}
