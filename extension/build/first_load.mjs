// What a page of an extension loads before anything is asked of it: its styles, its scripts, and what those import at once.
//
// Reads a build. Must never count what is loaded later: `import("./x.js")`.

import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** So much of the panel, in bytes. */
export const MOST_AT_FIRST = 300_000;

/**
 * @param {string} directory of a build
 * @param {string} page
 */
export async function bytesAtFirst(directory, page) {
  const [seen, left] = [new Map(), [page]];
  for (let file = left.pop(); file !== undefined; file = left.pop()) {
    if (seen.has(file)) continue;
    const text = await readFile(join(directory, file), "utf8");
    seen.set(file, Buffer.byteLength(text));
    left.push(...(file.endsWith(".html") ? linked(text) : file.endsWith(".js") ? imported(text) : []));
  }
  return [...seen.values()].reduce((sum, bytes) => sum + bytes, 0);
}

/** @param {string} html */
const linked = (html) => [...html.matchAll(/<(?:link|script)[^>]* (?:href|src)="([^":]+)"/g)].map(([, file = ""]) => file);

/** @param {string} code */
const imported = (code) => [...code.matchAll(/(?:\bfrom|\bimport) ?"\.\/([^"]+)"/g)].map(([, file = ""]) => file);
