// How much of a page a model takes, and a page in parts that it takes.
//
// Pure. Must never cut in silence: what is left out is said in the text itself.

/** The window of a model that does not say how large it is, in tokens. */
const WINDOW = 8_192;

/** The share of a window that a page may fill: the rest is for the conversation and the answer. */
const SHARE = 0.6;

/** The most that the bridge takes as one attachment, with some room, in bytes. */
const MOST_BYTES = 990_000;

/** So many parts of a page are summarised at most, and a summary has so many tokens at least. */
export const MOST_PARTS = 40;
const LEAST_SUMMARY = 60;
const LONGEST_SUMMARY = 400;

const WIDE = /[\u3040-\u30FF\u3400-\u9FFF\uAC00-\uD7AF\uF900-\uFAFF]/gu;

/** About how many tokens a text is: four letters make one, and each sign of Chinese, Japanese and Korean. */
export function tokensOf(text: string): number {
  const wide = text.match(WIDE)?.length ?? 0;
  return Math.ceil(wide + (text.length - wide) / 4);
}

export function tokenWords(tokens: number): string {
  if (tokens < 1_000) return `about ${tokens} tokens`;
  return `about ${(tokens / 1_000).toFixed(tokens < 10_000 ? 1 : 0)}k tokens`;
}

/** How many tokens of a page fit into a model's window. */
export const roomFor = (window: number | undefined): number => Math.max(200, Math.floor((window ?? WINDOW) * SHARE));

export interface Fitted {
  text: string;
  /** How many characters are left out. */
  left: number;
}

/** A text that fits, with a note of what does not. */
export function fitted(text: string, room: number): Fitted {
  const kept = beginning(text, room);
  const left = text.length - kept.length;
  return left === 0 ? { text, left } : { text: `${kept}\n\n${cutNote(left, text.length)}`, left };
}

const cutNote = (left: number, all: number): string =>
  `[Harbor cut the page here: ${left.toLocaleString("en")} of its ${all.toLocaleString("en")} characters do not fit into the model.]`;

/** As much of a text as fits, no letter torn. */
function beginning(text: string, room: number): string {
  if (fits(text, room)) return text;
  let [least, most] = [0, text.length];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (fits(text.slice(0, middle), room)) least = middle;
    else most = middle - 1;
  }
  const isTorn = /[\uD800-\uDBFF]/.test(text[least - 1] ?? "");
  return text.slice(0, isTorn ? least - 1 : least);
}

const fits = (text: string, room: number): boolean => tokensOf(text) <= room && (text.length * 3 <= MOST_BYTES || new TextEncoder().encode(text).length <= MOST_BYTES);

export interface Parts {
  parts: string[];
  /** How many tokens the summary of each may have, so that all of them fit together. */
  summary: number;
  /** How many characters are in no part: there would be too many. */
  left: number;
}

/** A text in parts that fit, torn between paragraphs where that is possible. */
export function inParts(text: string, room: number): Parts {
  const most = Math.max(1, Math.min(MOST_PARTS, Math.floor(room / LEAST_SUMMARY)));
  const parts: string[] = [];
  let rest = text;
  while (rest !== "" && parts.length < most) {
    const part = upToBreak(rest, beginning(rest, room));
    parts.push(part);
    rest = rest.slice(part.length);
  }
  const kept = parts.map((part) => part.trim()).filter((part) => part !== "");
  return { parts: kept, summary: Math.min(LONGEST_SUMMARY, Math.floor(room / Math.max(1, kept.length))), left: rest.length };
}

/** Ends a part behind a paragraph, a line or a word, unless most of it would be lost. */
function upToBreak(all: string, part: string): string {
  if (part.length === all.length) return part;
  for (const end of ["\n\n", "\n", " "]) {
    const at = part.lastIndexOf(end);
    if (at > part.length / 2) return part.slice(0, at + end.length);
  }
  return part === "" ? all.slice(0, 1) : part;
}

/** Whether a message is the action of that name. */
export const isSummarise = (text: string): boolean => /^\/summari[sz]e\s*$/i.test(text.trim());

const THIS = /\b(this|these|those|the|both|each|every|all|open|current)\s+((of|the|these|those|two|three|four|\d+|open|web)\s+){0,3}(web\s?)?(page|site|article|post|thread|document|story|text|recipe|paper|video|tab)s?\b|\b(tl;?dr|on here|in here)\b|\bwhat does (it|this) say\b/i;
const BEGINS = /^\s*(please\s+)?(summari[sz]e|sum up|explain this|translate this|what is this( about)?\b|who wrote (this|it)\b|tl;?dr)/i;

/** What asks for something to be done, for which a page alone is not enough. */
const ACTS = /^\s*(please\s+|can you\s+|could you\s+)?(save|store|add|create|make|send|post|e-?mail|mail|book|buy|order|delete|remove|move|rename|run|call|open|click|fill|schedule|remind|search|look up|write (it|this|that|them|the \w+) (to|into))\b/i;

const ASKS = /\?\s*$|^\s*(who|what|when|where|which|why|how|is|are|was|were|does|do|did|has|have|can|compare|list|name|tell me|give me)\b/i;

/**
 * True if a question is about the pages that go with it: then one answer without tools is enough. `byHand` is true if the person has
 * attached the pages to this question.
 */
export const isAboutPage = (text: string, byHand = false): boolean => !ACTS.test(text) && (THIS.test(text) || BEGINS.test(text) || (byHand && ASKS.test(text)));
