// Text into fields and editors, as a hand would put it there: the page is asked first, and may refuse it or put it there itself.
//
// Owns the events of typing. Must never write into an editor's own elements: what it does not take is not there.

import { pause } from "../../../shared/browser/content.ts";
import { selectWhole } from "./caret.ts";
import { turn } from "./effects.ts";
import { noteEdit, noteTold } from "./focus.ts";
import { type Field, isField } from "./roles.ts";

/** `refused`: by the page, which may have done it itself. */
type Came = "done" | "refused" | "failed";

/** Selects all that stands in a field or an editor, and waits until the page knows. */
export async function selectAll(target: HTMLElement): Promise<void> {
  if (isField(target)) return (target as HTMLInputElement).select();
  const told = new Promise<void>((resolve) => document.addEventListener("selectionchange", () => resolve(), { once: true }));
  selectWhole(target);
  await Promise.race([told, pause(50)]);
  await turn();
}

/** Puts text where the selection is, with the events that typing causes; an empty one deletes it. */
export async function insert(target: HTMLElement, text: string): Promise<void> {
  if (isField(target)) return insertInField(target, text);
  if (text === "") return remove(target, "Backward");
  for (const [nth, line] of text.split("\n").entries()) {
    if (nth > 0) await newLine(target);
    if (line !== "") asked(target, "insertText", line, () => document.execCommand("insertText", false, line));
    // An editor draws anew what it was told.
    await turn();
  }
}

/** Begins another paragraph in an editor. */
export async function newLine(target: HTMLElement): Promise<void> {
  asked(target, "insertParagraph", null, () => document.execCommand("insertParagraph"));
  await turn();
}

/** Deletes what is selected, or what stands beside the caret. */
export async function remove(target: HTMLElement, way: "Backward" | "Forward"): Promise<void> {
  noteEdit(target);
  asked(target, `deleteContent${way}`, null, () => document.execCommand(way === "Forward" ? "forwardDelete" : "delete"));
  if (!isField(target)) await turn();
}

function insertInField(field: Field, text: string): void {
  noteEdit(field);
  // Dates, colours and sliders take no text.
  const takesText = !(field instanceof HTMLInputElement) || /^(text|search|url|tel|password|email|number|)$/.test(field.type);
  if (!takesText) return setValue(field, text);
  const before = field.value;
  const run = () => (text === "" ? document.execCommand("delete") : document.execCommand("insertText", false, text));
  const came = text === "" && before === "" ? "done" : asked(field, text === "" ? "deleteContentBackward" : "insertText", text === "" ? null : text, run);
  // Where the browser could not do it at all; it takes from a text what the field has room for.
  if (came === "failed" && field.value === before && hasRoom(field, text)) setValue(field, text);
}

const hasRoom = (field: Field, text: string): boolean => !("maxLength" in field) || field.maxLength < 0 || text.length <= field.maxLength;

/** Does what a browser does at an input, where the page does not refuse it. Chromium asks the page at keys alone, so it is asked from here. */
function asked(target: HTMLElement, inputType: string, data: string | null, run: () => boolean): Came {
  let question: Event | undefined;
  if (__BROWSER__ === "chrome") {
    question = new InputEvent("beforeinput", { inputType, data, targetRanges: isField(target) ? [] : rangesOf(target, inputType), bubbles: true, cancelable: true, composed: true });
    if (!target.dispatchEvent(question)) return "refused";
    return (inputType === "insertText" && !isField(target) ? asText(target, data ?? "") : undefined) ?? (run() ? "done" : "failed");
  }
  const hear = (event: Event) => (question ??= event);
  window.addEventListener("beforeinput", hear, true);
  try {
    const done = run();
    return question?.defaultPrevented ? "refused" : done ? "done" : "failed";
  } finally {
    window.removeEventListener("beforeinput", hear, true);
  }
}

/** What an input changes: editors with a model of their own ask the event. */
function rangesOf(editor: HTMLElement, inputType: string): StaticRange[] {
  const selection = getSelection();
  if (selection === null || selection.rangeCount === 0) return [];
  const { startContainer, startOffset, endContainer, endOffset, collapsed } = selection.getRangeAt(0);
  if (!editor.contains(startContainer) || !editor.contains(endContainer)) return [];
  const isBefore = collapsed && inputType === "deleteContentBackward" && startContainer instanceof Text;
  // A letter may be two units long.
  const letter = isBefore ? ([...startContainer.data.slice(0, startOffset)].at(-1)?.length ?? 0) : 0;
  return [new StaticRange({ startContainer, startOffset: startOffset - letter, endContainer, endOffset })];
}

/** By the event of the text itself, which editors of React take; the browser writes at it what no editor takes. */
function asText(editor: HTMLElement, text: string): Came | undefined {
  const before = editor.textContent;
  const event = document.createEvent("TextEvent") as Event & { initTextEvent?(type: string, bubbles: boolean, cancelable: boolean, view: Window, data: string): void };
  event.initTextEvent?.("textInput", true, true, window, text);
  if (event.type !== "textInput") return undefined;
  if (!editor.dispatchEvent(event)) return "refused";
  return editor.textContent === before ? undefined : "done";
}

/** As typing would, by the element's own setter: frameworks put theirs in front of it. */
export function setValue(field: Field, text: string): void {
  const proto = field instanceof HTMLTextAreaElement ? HTMLTextAreaElement.prototype : field instanceof HTMLSelectElement ? HTMLSelectElement.prototype : HTMLInputElement.prototype;
  Object.getOwnPropertyDescriptor(proto, "value")?.set?.call(field, text);
  field.dispatchEvent(new InputEvent("input", { bubbles: true, composed: true, inputType: "insertText", data: text }));
  tellOf(field);
}

/** Tells the page that a field has its value now. */
export function tellOf(field: Field): void {
  noteTold(field);
  field.dispatchEvent(new Event("change", { bubbles: true }));
}
