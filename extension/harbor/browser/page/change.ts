// What an action changed in the page.
//
// Owns the watching: it ends once what the action began has ended and the page is quiet, and after half a second at the latest.

import { pause } from "../../../shared/browser/content.ts";
import { LONGEST_TITLE, shortened } from "./bound.ts";
import { selected } from "./caret.ts";
import { begin, end, hasOpened, isUnderWay, turn } from "./effects.ts";
import { Leaving } from "./leaving.ts";
import { catchUp, noteFocus } from "./focus.ts";
import { isField, nameOf, roleOf } from "./roles.ts";
import { focused } from "./tree.ts";

/** How long what an action began is waited for, how soon it is looked at again, in milliseconds, and how often nothing may have happened until it is over. */
const LONGEST = 500;
const LOOK = 10;
const QUIET = 3;

export interface Change {
  /** For people, a line each; none where nothing changed. */
  lines: string[];
  /** It began to go to another document, or has opened a window: the browser tells of that a little later. */
  begun?: "leaving" | "opening";
  /** What is to be opened in a tab of its own. */
  opens?: string;
}

/** Does something, waits for what it begins, and says what changed. `answers`: also for what it asks of a server. */
export async function changing(act: () => Promise<void> | void, { answers = false } = {}): Promise<Change> {
  const before = { url: location.href, title: document.title, focus: focused(), selected: selected() };
  const seen = { added: 0, removed: 0, attributes: 0, texts: 0, dialogs: new Set<Element>(), records: 0 };
  const observer = new MutationObserver((records) => {
    seen.records += records.length;
    for (const record of records) note(record, seen);
  });
  observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  const leaving = new Leaving();
  noteFocus();
  begin();
  try {
    await act();
    end();
    catchUp();
    await quiet(() => seen.records, answers);
    catchUp();
  } finally {
    end();
    observer.disconnect();
    leaving.stop();
  }
  const begun = leaving.is && location.href === before.url ? { begun: "leaving" as const } : hasOpened() ? { begun: "opening" as const } : {};
  return { lines: linesOf(before, seen), ...begun };
}

/** Waits until nothing of the action is under way, and the page does nothing for a moment. */
async function quiet(done: () => number, answers: boolean): Promise<void> {
  const latest = performance.now() + LONGEST;
  let last = done();
  for (let still = 0; still < QUIET && performance.now() < latest; still += 1) {
    await turn();
    const isBusy = isUnderWay(answers);
    if (isBusy) await pause(LOOK);
    if (isBusy || done() !== last) still = -1;
    last = done();
  }
}

function linesOf(before: { url: string; title: string; focus: Element | null; selected: string }, seen: Seen): string[] {
  const lines: string[] = [];
  if (location.href !== before.url) lines.push("the address changed");
  if (document.title !== before.title) lines.push(`the title is now ${JSON.stringify(shortened(document.title, LONGEST_TITLE))}`);
  for (const dialog of seen.dialogs) if (dialog.isConnected && dialog.checkVisibility()) lines.push(`a ${roleOf(dialog)} ${JSON.stringify(nameOf(dialog))} came`);
  const focus = focused();
  if (focus !== null && focus !== before.focus && focus !== document.body) lines.push(`the focus is on ${roleOf(focus)} ${JSON.stringify(nameOf(focus))}`);
  const text = selected();
  if (text !== before.selected && text !== "" && !(focus instanceof HTMLElement && isField(focus))) lines.push(`selected: ${JSON.stringify(shortened(text, LONGEST_SELECTED))}`);
  const counts = [`${seen.added} added`, `${seen.removed} removed`, `${seen.texts} texts`, `${seen.attributes} attributes`].filter((count) => !count.startsWith("0 "));
  if (counts.length > 0) lines.push(`changed: ${counts.join(", ")}`);
  return lines;
}

/** So much of what is selected is told, in characters. */
const LONGEST_SELECTED = 500;

interface Seen {
  added: number;
  removed: number;
  attributes: number;
  texts: number;
  records: number;
  dialogs: Set<Element>;
}

const DIALOG = 'dialog, [role="dialog"], [role="alertdialog"], [role="alert"]';

function note(record: MutationRecord, seen: Seen): void {
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
