// Selections and the caret: where a place of the window, or a key, puts them.
//
// Owns only the selection. Must never change a text.

import { isField } from "./roles.ts";

/** A place in a text. */
interface At {
  node: Node;
  offset: number;
}

/** Puts the caret where a press would put it; `extend`: the selection reaches to there. */
export function caretTo(place: { x: number; y: number }, extend: boolean): void {
  const at = textAt(place);
  const selection = document.getSelection();
  if (at === undefined || selection === null) return;
  if (extend && selection.anchorNode !== null) selection.extend(at.node, at.offset);
  else selection.collapse(at.node, at.offset);
}

/** Selects what stands between two places; false where a page does not let its text be selected. */
export function selectBetween(from: { x: number; y: number }, to: { x: number; y: number }): boolean {
  const [start, end] = [textAt(from), textAt(to)];
  if (start === undefined || end === undefined) return false;
  document.getSelection()?.setBaseAndExtent(start.node, start.offset, end.node, end.offset);
  return true;
}

/** Selects the word at a place, as pressing twice does. */
export function selectWord(place: { x: number; y: number }): void {
  const at = textAt(place);
  const selection = document.getSelection();
  if (at === undefined || selection === null) return;
  selection.collapse(at.node, at.offset);
  selection.modify("move", "backward", "word");
  selection.modify("extend", "forward", "word");
}

function textAt({ x, y }: { x: number; y: number }): At | undefined {
  const found = document.caretPositionFromPoint(x, y);
  const node = found?.offsetNode;
  if (found === null || node === undefined || (node instanceof Element && isField(node))) return undefined;
  const around = node instanceof Element ? node : node.parentElement;
  if (around === null || getComputedStyle(around).userSelect === "none") return undefined;
  return { node, offset: found.offset };
}

/** All that stands in an editor, from its first text to its last. */
export function selectWhole(editor: HTMLElement): void {
  const texts = document.createTreeWalker(editor, NodeFilter.SHOW_TEXT);
  const first = texts.nextNode();
  let last = first;
  for (let next = first; next !== null; next = texts.nextNode()) last = next;
  const selection = document.getSelection();
  if (first === null || last === null) selection?.selectAllChildren(editor);
  else selection?.setBaseAndExtent(first, 0, last, (last as Text).length);
}

/** What is selected, for people; nothing in a field, whose value is told by itself. */
export const selected = (): string => document.getSelection()?.toString().trim() ?? "";

/** Where a key takes the caret of a text: its new place, from the one that moves. Pure. */
export function caretAfter(text: string, at: number, key: string, { byWord, isWhole }: { byWord: boolean; isWhole: boolean }): number | undefined {
  const lineStart = isWhole ? 0 : text.lastIndexOf("\n", at - 1) + 1;
  const next = text.indexOf("\n", at);
  const lineEnd = isWhole || next === -1 ? text.length : next;
  if (key === "Home") return lineStart;
  if (key === "End") return lineEnd;
  if (key === "ArrowLeft") return byWord ? at - (/\S*\s*$/.exec(text.slice(0, at))?.[0].length ?? 0) : Math.max(0, at - (isLow(text, at - 1) ? 2 : 1));
  if (key === "ArrowRight") return byWord ? at + (/^\s*\S*/.exec(text.slice(at))?.[0].length ?? 0) : Math.min(text.length, at + (isLow(text, at + 1) ? 2 : 1));
  const column = at - lineStart;
  if (key === "ArrowUp") return lineStart === 0 ? 0 : Math.min(text.lastIndexOf("\n", lineStart - 2) + 1 + column, lineStart - 1);
  if (key !== "ArrowDown") return undefined;
  if (lineEnd === text.length) return text.length;
  const after = text.indexOf("\n", lineEnd + 1);
  return Math.min(lineEnd + 1 + column, after === -1 ? text.length : after);
}

/** True for the second half of a letter that takes two. */
const isLow = (text: string, at: number): boolean => /[\udc00-\udfff]/.test(text.charAt(at));
