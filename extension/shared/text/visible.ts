// Foreign text as a person may be shown it: what would be invisible, or would rearrange its surroundings, is made visible.
//
// Pure. Must never be used for what programs read. The result is plain text: it goes into textContent, in an element that
// isolates its direction.

/** How many characters are shown before "more". */
export const SHOWN = 200;

/** The most that is shown at all. */
export const MOST = 5_000;

export interface Visible {
  /** What is shown at first. */
  text: string;
  /** All of it, where that is more. */
  whole?: string;
}

// Controls, formats (bidi, zero-width, tags), private use, surrogates that stand alone, unassigned, and line ends; besides what has no
// ink although it is a letter, and variation selectors.
const HIDDEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Cn}\p{Zl}\p{Zp}\u115F\u1160\u3164\uFFA0\u2800\u034F\u17B4\u17B5\u180B-\u180F\uFE00-\uFE0F\u{E0100}-\u{E01EF}]/gu;

// Marks that pile up over neighbouring lines.
const PILE = /(\p{M}{3})\p{M}+/gu;

/** Makes a text fit to be shown. */
export function visible(foreign: string): Visible {
  const letters = [...foreign.slice(0, MOST * 2)];
  const rest = letters.length > MOST || foreign.length > MOST * 2;
  const whole = shown(letters.slice(0, MOST).join("")) + (rest ? " […]" : "");
  const all = [...whole];
  if (all.length <= SHOWN) return { text: whole };
  return { text: `${all.slice(0, SHOWN).join("")}…`, whole };
}

/** A text of several lines, made fit to be shown where lines are kept. */
export function visibleLines(foreign: string, most = 20_000): string {
  const lines = foreign.slice(0, most).split(/\r\n?|\n/);
  return lines.map(shown).join("\n") + (foreign.length > most ? "\n[…]" : "");
}

// What has no ink and yet belongs there: the joints of emoji, and of words in scripts whose letters join.
const JOINT =
  /(?<=\p{Extended_Pictographic})\uFE0F|(?<=[#*0-9])\uFE0F(?=\u20E3)|(?<=\p{Extended_Pictographic}[\uFE0F\p{Emoji_Modifier}]?)\u200D(?=\p{Extended_Pictographic})|(?<=[\p{sc=Arab}\p{sc=Deva}\p{sc=Beng}\p{sc=Gujr}\p{sc=Taml}\p{sc=Telu}\p{sc=Knda}\p{sc=Mlym}\p{sc=Sinh}])[\u200C\u200D](?=\p{L})/uy;
const HIDDEN_IN_PROSE = new RegExp(`(?![\\n\\t])${HIDDEN.source}`, "gu");

/** All of a model's text, made fit to be shown where lines and tabs are kept. Emoji stay whole. */
export function visibleProse(foreign: string): string {
  const text = foreign.replace(/\r\n?/g, "\n").replace(HIDDEN_IN_PROSE, (letter, at: number, all: string) => {
    JOINT.lastIndex = at;
    return JOINT.test(all) ? letter : coded(letter);
  });
  return text.replace(PILE, "$1⟨…⟩").replace(/\p{Zs}/gu, " ");
}

function coded(letter: string): string {
  return `⟨${(letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

function shown(text: string): string {
  return text
    .replace(/\r\n?|\n/g, "⏎")
    .replace(/\t/g, "⇥")
    .replace(HIDDEN, coded)
    .replace(PILE, "$1⟨…⟩")
    .replace(/\p{Zs}/gu, " ");
}
