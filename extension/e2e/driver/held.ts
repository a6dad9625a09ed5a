// Where a secret could have stayed: in a page of ours, in what the browser keeps for it, in files.
//
// Owns nothing. It looks, and changes nothing.

import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";

/** All that a page of harbor's holds: what is shown and typed, and what the browser keeps for it. */
export const HELD = `
  const typed = [...document.querySelectorAll("input, textarea, select")].map((one) => one.value);
  const kept = [await chrome.storage.local.get(null), await chrome.storage.session.get(null), { ...localStorage }, { ...sessionStorage }];
  return JSON.stringify([document.documentElement.outerHTML, typed, kept, location.href, history.state]);
`;

/** Files below a directory that hold a text. */
export async function holding(dir: string, text: string): Promise<string[]> {
  const found = await readdir(dir, { recursive: true, withFileTypes: true });
  const files = found.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
  // What goes while it is looked at holds nothing.
  const texts = await Promise.all(files.map((file) => readFile(file).catch(() => Buffer.alloc(0))));
  return files.filter((_, at) => texts[at]?.includes(text));
}
