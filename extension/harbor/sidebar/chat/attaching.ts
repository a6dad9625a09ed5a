// What goes with a message: files that are chosen, pasted or dropped, and what else is attached.
//
// Owns what can be attached, how much, and the number of each. Must never attach what the person did not choose, nor a part of a file as if
// it were all.

import { CodedError } from "../../../shared/protocol/codes.ts";
import type { ChatPart } from "../../../shared/protocol/generated/messages.ts";
import { base64 } from "../../browser/picture.ts";
import type { Hands } from "../hands.ts";
import type { Attached } from "../store.ts";
import { type Attachment, attachmentOf } from "./transcript.ts";

export const ATTACH = "attach";

/** The control that opens the browser's choice of files. */
export const FILES = "attach";

const IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const MOST = 32;

/** The most of a picture and of a text that go with a message, in bytes. */
const MOST_IMAGE = 3_700_000;
export const MOST_TEXT = 990_000;

let last = 0;

/** With a number of its own among all that is attached. */
export function numbered(one: Attachment): Attached {
  return { ...one, id: (last += 1) };
}

/** What a part is as an attachment; `title`: what the person calls it. */
export function attached(part: ChatPart, title?: string): Attached {
  return numbered(attachmentOf(part, title));
}

/** Attaches files to the next message; what cannot be attached is said. */
export function attach(hands: Hands, files: Iterable<File>): void {
  const list = [...files];
  if (list.length === 0) return;
  hands.act(ATTACH, async () => {
    for (const file of list) add(hands, await read(file));
  });
}

/** Adds something to the next message. */
export function add(hands: Hands, one: Attached): void {
  const { composing } = hands.state;
  if (composing.attached.length >= MOST) throw new CodedError("ERR_INVALID_REQUEST", `A message has at most ${MOST} attachments. Remove one first.`);
  hands.change({ composing: { ...composing, attached: [...composing.attached, one] } });
}

async function read(file: File): Promise<Attached> {
  const name = file.name.slice(0, 300);
  const isImage = IMAGES.includes(file.type);
  const most = isImage ? MOST_IMAGE : MOST_TEXT;
  if (file.size > most) throw new CodedError("ERR_INVALID_REQUEST", `${name} has ${sizeWords(file.size)}. ${isImage ? "A picture" : "A text"} can have ${sizeWords(most)}: ${isImage ? "make it smaller first" : "attach the part that matters"}.`);
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (isImage) return attached({ type: "image", mediaType: file.type, data: base64(bytes) }, name);
  return attached({ type: "text", title: name, text: decoded(name, bytes) });
}

function decoded(name: string, bytes: Uint8Array): string {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (!text.includes("\0")) return text;
  } catch {
    // Said below.
  }
  throw new CodedError("ERR_INVALID_REQUEST", `${name} is neither text nor a picture (PNG, JPEG, GIF, WebP). Attach one of these.`);
}

function sizeWords(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
