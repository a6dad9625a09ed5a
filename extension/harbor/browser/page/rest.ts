// What is said where a document is longer than what is read of it: by whoever reads it, to whoever looks through what was read.
//
// Must never be left out in silence.

import type { Line } from "./snapshot.ts";

/** So many elements are looked at: more take longer than anybody waits. */
export const MOST_ELEMENTS = 30_000;

export const NOT_READ = `… the page has more than ${MOST_ELEMENTS} elements; the rest was not read. Take a part by target`;

/** Whether a line says that. */
export const isRest = ({ text }: Line): boolean => text === NOT_READ;
