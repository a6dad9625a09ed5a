// Files that go with a message: chosen, pasted or dropped.
//
// Owns what can be attached, and how much. Must never attach what the person did not choose, nor a part of a file as if it were all.

import type { Hands } from "../hands.ts";
import type { Attached } from "../store.ts";
import { attachmentOf } from "./transcript.ts";

export const ATTACH = "attach";

const IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const MOST_IMAGE = 5 * 1024 * 1024;
const MOST_TEXT = 1_000_000;
const MOST = 32;

let last = 0;

/** Attaches files to the next message; what cannot be attached is said. */
export function attach(hands: Hands, files: Iterable<File>): void {
  const list = [...files];
  if (list.length === 0) return;
  hands.act(ATTACH, async () => {
    for (const file of list) add(hands, await read(file));
  });
}

/** Adds something to the next message. */
export function add(hands: Hands, one: Omit<Attached, "id">): void {
  const { composing } = hands.state;
  if (composing.attached.length >= MOST) throw new Error(`A message has at most ${MOST} attachments. Remove one first.`);
  hands.change({ composing: { ...composing, attached: [...composing.attached, { ...one, id: (last += 1) }] } });
}

async function read(file: File): Promise<Omit<Attached, "id">> {
  if (IMAGES.includes(file.type)) return attachmentOf({ type: "image", mediaType: file.type, data: await base64Of(file) }, file.name);
  if (file.size > MOST_TEXT) throw new Error(`${file.name} has ${sizeWords(file.size)}. A text can have 1 MB: attach the part that matters.`);
  return attachmentOf({ type: "text", title: file.name, text: decoded(file.name, new Uint8Array(await file.arrayBuffer())) });
}

async function base64Of(file: File): Promise<string> {
  if (file.size > MOST_IMAGE) throw new Error(`${file.name} has ${sizeWords(file.size)}. A picture can have 5 MB: make it smaller first.`);
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}

function decoded(name: string, bytes: Uint8Array): string {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (!text.includes("\0")) return text;
  } catch {
    // Said below.
  }
  throw new Error(`${name} is neither text nor a picture (PNG, JPEG, GIF, WebP). Attach one of these.`);
}

function sizeWords(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
