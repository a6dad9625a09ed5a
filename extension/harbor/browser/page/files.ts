// Files into the page: kept until all of their bytes are there, then put into a field or dropped.
//
//   pieces ─► kept, by the name of the transfer ─► File objects ─┬─► field.files ─► input, change ─► what it holds then
//                                                                └─► dragenter, dragover ─ taken? ─► drop
//
// Owns that the answer says what the field holds, not what was wanted. Must never give a file to a document of another site than
// the person was told of.

import { carriedByPage } from "../../../shared/browser/content.ts";
import { isAccepted } from "./accepts.ts";
import { type Change, changing } from "./change.ts";
import type { Commands, FileFacts, Replies } from "./commands.ts";
import { Failure } from "./failure.ts";
import { highlight } from "./highlight.ts";
import { named, pointAt } from "./pointer.ts";
import { below } from "./refs.ts";
import { elementAt, parentOf } from "./tree.ts";

/** How much is kept of one transfer, in bytes, and of how many, the newest. */
const MOST_BYTES = 72 * 1024 * 1024;
const MOST_TRANSFERS = 2;

interface Kept extends FileFacts {
  parts: Uint8Array<ArrayBuffer>[];
  has: number;
}

const transfers = new Map<string, Kept[]>();

/** Keeps a piece; how much of its file is there. */
export function keepPiece({ transfer, site, nth, file, data }: Commands["keep"]): Replies["keep"] {
  demandSite(site);
  const files = transfers.get(transfer) ?? [];
  transfers.set(transfer, files);
  for (const [oldest] of transfers) if (transfers.size > MOST_TRANSFERS) transfers.delete(oldest);
  const kept = (files[nth] ??= { ...file, parts: [], has: 0 });
  const bytes = decoded(data);
  if (files.reduce((sum, { has }) => sum + has, bytes.length) > MOST_BYTES) {
    transfers.delete(transfer);
    throw new Failure("invalid", "the files are too large");
  }
  kept.parts.push(bytes);
  kept.has += bytes.length;
  return { has: kept.has };
}

function decoded(data: string): Uint8Array<ArrayBuffer> {
  const letters = atob(data);
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; at += 1) bytes[at] = letters.charCodeAt(at);
  return bytes;
}

/** The person was told of one site: a frame may be of another one, and the tab may have gone on. */
function demandSite(site: string | undefined): void {
  if (site !== undefined && site !== self.origin) throw new Failure("denied", `these files are for ${site}, and this document is of ${self.origin}`);
}

function takenFiles(transfer: string, site: string | undefined): File[] {
  demandSite(site);
  const files = transfers.get(transfer) ?? [];
  transfers.delete(transfer);
  return files.map(({ parts, name, type }) => new File(parts, name, { type }));
}

const isFileField = (element: Element | null): element is HTMLInputElement => element instanceof HTMLInputElement && element.type === "file";

const shownFiles = (files: Iterable<File>): string => [...files].map(({ name, size }) => `${JSON.stringify(name)} (${size} bytes)`).join(", ");

/** Puts files into a field; without a target into the only one. */
export async function upload(target: Element | undefined, { transfer, site }: { transfer: string; site: string | undefined }): Promise<Change> {
  return putIn(fieldFor(target), takenFiles(transfer, site));
}

/** The field of a button that is drawn in its place: what it labels, what is in it, or the only one around it. */
function fieldFor(target: Element | undefined): HTMLInputElement {
  if (target === undefined) return onlyOne(document.documentElement, "the page");
  if (isFileField(target)) return target;
  const labelled = target instanceof HTMLLabelElement ? target.control : target.closest("label")?.control;
  if (labelled !== undefined && isFileField(labelled)) return labelled;
  for (let at: Element | null = target; at !== null; at = parentOf(at)) if (fieldsIn(at).length > 0) return onlyOne(at, `the page around ${named(target)}`);
  throw new Failure("not_found", `there is no file field in the page around ${named(target)}`);
}

const fieldsIn = (element: Element): HTMLInputElement[] => [...below(element)].filter(isFileField);

function onlyOne(around: Element, place: string): HTMLInputElement {
  const [first, ...others] = fieldsIn(around);
  if (first === undefined) throw new Failure("not_found", `${place} has no file field`);
  if (others.length > 0) throw new Failure("not_found", `${place} has several file fields, name one: ${[first, ...others].slice(0, 10).map(named).join(", ")}`);
  return first;
}

async function putIn(field: HTMLInputElement, files: File[]): Promise<Change> {
  demandTakes(field, files);
  if (field.checkVisibility()) field.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
  await highlight(field);
  const data = new DataTransfer();
  for (const file of files) data.items.add(file);
  let held = "";
  const change = await changing(
    () => {
      field.files = data.files;
      held = shownFiles(field.files ?? []);
      field.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
      field.dispatchEvent(new Event("change", { bubbles: true }));
    },
    { answers: true },
  );
  return { ...change, lines: [said(field, shownFiles(files), held, shownFiles(field.files ?? [])), ...change.lines] };
}

/** What became of it: pages empty a field once they have what was in it. */
function said(field: HTMLInputElement, wanted: string, held: string, holds: string): string {
  if (held !== wanted) return `NOT as wanted: ${named(field)} holds ${held || "nothing"}`;
  if (holds === wanted) return `${named(field)} holds ${holds}`;
  return holds === "" ? `${named(field)} had ${held}; the page has taken it and emptied the field` : `NOT as wanted: ${named(field)} holds ${holds}. The page has changed it`;
}

function demandTakes(field: HTMLInputElement, files: File[]): void {
  if (field.matches(":disabled")) throw new Failure("disabled", `${named(field)} is disabled`);
  if (field.webkitdirectory) throw new Failure("unsupported", `${named(field)} takes a whole folder, which Harbor does not upload`);
  if (!field.multiple && files.length > 1) throw new Failure("invalid", `${named(field)} takes one file only`);
  const other = files.find((file) => !isAccepted(field.accept, file));
  if (other !== undefined) throw new Failure("invalid", `${named(field)} takes ${field.accept} only, and ${JSON.stringify(other.name)} is ${other.type || "of no known kind"}`);
}

/** Drops files and data in the middle of an element, where it takes them. */
export async function drop(element: Element, { transfer, site, data }: Omit<Commands["drop"], "target">): Promise<Change> {
  const files = takenFiles(transfer, site);
  if (isFileField(element) && files.length > 0) return putIn(element, files);
  const place = await pointAt(element);
  const receiver = elementAt(place.x, place.y) ?? element;
  const carried = carriedByPage();
  for (const file of files) carried.items.add(file);
  for (const [type, text] of data) carried.setData(type, text);
  const send = (type: string) => !receiver.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, composed: true, view: window, clientX: place.x, clientY: place.y, dataTransfer: carried }));
  let [isWanted, isTaken] = [false, false];
  const act = () => {
    const enters = send("dragenter");
    isWanted = send("dragover") || enters;
    if (isWanted) isTaken = send("drop");
    else send("dragleave");
  };
  const change = await changing(act, { answers: true });
  const what = [shownFiles(files), data.map(([type]) => type).join(", ")].filter((part) => part !== "").join(" and ");
  const line = !isWanted ? `NOT as wanted: ${named(element)} takes no drops` : isTaken ? `${named(element)} took ${what}` : `${what} was dropped on ${named(element)}; the page does not say that it took it`;
  return { ...change, lines: [line, ...change.lines] };
}
