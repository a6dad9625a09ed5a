// Markdown into tokens, within bounds.
//
// Owns `marked`, of which only the lexer is used. Must never make HTML, or throw: what cannot be read is plain text.

import { Lexer, type MarkedOptions, type Token, Tokenizer, type TokensList } from "marked";

/** How deep quotes and lists, and marks within a line, may lie in each other. */
const DEEPEST = 16;

/** A part that stays as it was written. */
const plain = (raw: string): Token => ({ type: "text", raw, text: raw });

/** Tags are text, so they say nothing of what follows. */
class TextTags extends Tokenizer {
  override tag(src: string): ReturnType<Tokenizer["tag"]> {
    const raw = this.rules.inline.tag.exec(src)?.[0];
    return raw === undefined ? undefined : { type: "html", raw, inLink: false, inRawBlock: false, text: raw, block: false };
  }
}

class Bounded extends Lexer {
  #blocks = 0;
  #marks = 0;

  override blockTokens(src: string, tokens?: Token[], clipped?: boolean): Token[];
  override blockTokens(src: string, tokens?: TokensList, clipped?: boolean): TokensList;
  override blockTokens(src: string, tokens: Token[] = [], clipped = false): Token[] {
    if (this.#blocks === DEEPEST) return leftPlain(src, tokens);
    this.#blocks += 1;
    try {
      return super.blockTokens(src, tokens, clipped);
    } finally {
      this.#blocks -= 1;
    }
  }

  override inlineTokens(src: string, tokens: Token[] = []): Token[] {
    if (this.#marks === DEEPEST) return leftPlain(src, tokens);
    this.#marks += 1;
    try {
      return super.inlineTokens(src, tokens);
    } finally {
      this.#marks -= 1;
    }
  }
}

function leftPlain(src: string, tokens: Token[]): Token[] {
  if (src !== "") tokens.push(plain(src));
  return tokens;
}

export interface Lexed {
  tokens: Token[];
  /** True if addresses are defined apart from the links that have them. */
  defines: boolean;
}

/** The tokens of a text whose lines end with a line feed. */
export function lexed(source: string): Lexed {
  try {
    const options: MarkedOptions = { gfm: true, tokenizer: new TextTags() };
    const tokens = new Bounded(options).lex(source);
    return { tokens, defines: Object.keys(tokens.links).length > 0 };
  } catch {
    return { tokens: [plain(source)], defines: false };
  }
}
