// What a screen reader is told of an answer that is being written: whole sentences, each once.
//
// Pure. Must never tell a half sentence while more is to come.

/** How much of a text has been told. */
export interface Told {
  /** Which answer it is. */
  of: string;
  letters: number;
}

/** The sentences behind what was told; with `isAll` also one that has no end. */
export function sentences(told: Told, of: string, text: string, isAll: boolean): { say: string; told: Told } {
  const from = told.of === of ? told.letters : 0;
  const rest = text.slice(from);
  if (isAll) return { say: rest.trim(), told: { of, letters: text.length } };
  let end = 0;
  for (const { index, 0: mark } of rest.matchAll(/[.!?…:](?=\s)|\n/g)) end = index + mark.length;
  return { say: rest.slice(0, end).trim(), told: { of, letters: from + end } };
}
