// What an action changed in the page.
//
// Owns the watching: it ends once the page is quiet, and after half a second at the latest.

import { pause } from "../../../shared/browser/content.ts";
import { LONGEST_TITLE, shortened } from "./bound.ts";
import { nameOf, roleOf } from "./roles.ts";
import { focused } from "./tree.ts";

/** How long what an action began is waited for, and how long nothing may happen until it counts as done, in milliseconds. */
const LONGEST = 500;
const QUIET = 100;

export interface Change {
  /** For people, a line each; none where nothing changed. */
  lines: string[];
}

/** Does something, waits for what it begins, and says what changed. */
export async function changing(act: () => Promise<void> | void): Promise<Change> {
  const before = { url: location.href, title: document.title, focus: focused() };
  const seen = { added: 0, removed: 0, attributes: 0, texts: 0, dialogs: new Set<Element>() };
  let last = performance.now();
  const observer = new MutationObserver((records) => {
    last = performance.now();
    for (const record of records) note(record, seen);
  });
  observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  const begun = performance.now();
  try {
    await act();
    last = Math.max(last, performance.now());
    while (performance.now() - begun < LONGEST && performance.now() - last < QUIET) await pause(20);
  } finally {
    observer.disconnect();
  }
  const lines: string[] = [];
  if (location.href !== before.url) lines.push("the address changed");
  if (document.title !== before.title) lines.push(`the title is now ${JSON.stringify(shortened(document.title, LONGEST_TITLE))}`);
  for (const dialog of seen.dialogs) if (dialog.isConnected && dialog.checkVisibility()) lines.push(`a ${roleOf(dialog)} ${JSON.stringify(nameOf(dialog))} came`);
  const focus = focused();
  if (focus !== null && focus !== before.focus && focus !== document.body) lines.push(`the focus is on ${roleOf(focus)} ${JSON.stringify(nameOf(focus))}`);
  const counts = [`${seen.added} added`, `${seen.removed} removed`, `${seen.texts} texts`, `${seen.attributes} attributes`].filter((count) => !count.startsWith("0 "));
  if (counts.length > 0) lines.push(`changed: ${counts.join(", ")}`);
  return { lines };
}

const DIALOG = 'dialog, [role="dialog"], [role="alertdialog"], [role="alert"]';

function note(record: MutationRecord, seen: { added: number; removed: number; attributes: number; texts: number; dialogs: Set<Element> }): void {
  if (record.type === "characterData") seen.texts += 1;
  if (record.type === "attributes") {
    seen.attributes += 1;
    if (record.target instanceof Element && record.target.matches(DIALOG)) seen.dialogs.add(record.target);
  }
  seen.removed += record.removedNodes.length;
  for (const node of record.addedNodes) {
    seen.added += 1;
    if (!(node instanceof Element)) continue;
    if (node.matches(DIALOG)) seen.dialogs.add(node);
    const inner = node.querySelector(DIALOG);
    if (inner !== null) seen.dialogs.add(inner);
  }
}
