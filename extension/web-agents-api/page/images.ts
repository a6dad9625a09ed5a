// Images of a page as a model takes them: in Base64, small enough for the way.
//
// Owns the bounds of their size. Must never fetch anything: what a page gives is pixels or bytes.

import {
  CapturedArrayBuffer,
  CapturedBlob,
  CapturedBytes,
  CapturedCanvas,
  apply,
  bitmapOf,
  blobOf,
  bytesOf,
  ceil,
  contextOf,
  draw,
  fromCharCode,
  isView,
  mediaTypeOf,
  min,
  sizeOf,
  toBase64,
} from "./builtins.ts";
import { domError } from "./errors.ts";
import { add } from "./lists.ts";

/** What a conversation carries as it is, in bytes. What is larger is drawn anew, with EDGE pixels at its longer side. */
const SMALL = 128 * 1024;
const EDGE = 1_024;

export interface Image {
  mediaType: string;
  data: string;
}

/** Reads what a page gives as an image; rejects with a DOMException where it is none. */
export async function imageOf(value: unknown): Promise<Image> {
  const source = value instanceof CapturedArrayBuffer || isView(value) ? new CapturedBlob([value as BlobPart]) : value;
  if (source instanceof CapturedBlob && isKept(source)) return { mediaType: mediaTypeOf(source), data: await encoded(source) };
  return { mediaType: "image/jpeg", data: await encoded(await redrawn(source as ImageBitmapSource)) };
}

function isKept(blob: Blob): boolean {
  const type = mediaTypeOf(blob);
  return sizeOf(blob) <= SMALL && (type === "image/png" || type === "image/jpeg" || type === "image/gif" || type === "image/webp");
}

async function redrawn(source: ImageBitmapSource): Promise<Blob> {
  let bitmap: ImageBitmap;
  try {
    bitmap = await bitmapOf(source);
  } catch {
    throw domError("InvalidStateError", "the image cannot be read");
  }
  const scale = min(1, EDGE / bitmap.width, EDGE / bitmap.height);
  const width = ceil(bitmap.width * scale);
  const height = ceil(bitmap.height * scale);
  const canvas = new CapturedCanvas(width, height);
  const context = contextOf(canvas, "2d");
  if (context === null) throw domError("UnknownError", "the browser draws no image");
  draw(context, bitmap, 0, 0, width, height);
  try {
    return await blobOf(canvas, { __proto__: null, type: "image/jpeg", quality: 0.85 } as ImageEncodeOptions);
  } catch {
    throw domError("SecurityError", "the image is of another origin");
  }
}

async function encoded(blob: Blob): Promise<string> {
  const bytes = new CapturedBytes(await bytesOf(blob));
  let letters = "";
  for (let begin = 0; begin < bytes.length; begin += 8_192) {
    const some: number[] = [];
    for (let at = begin; at < min(begin + 8_192, bytes.length); at += 1) add(some, bytes[at] as number);
    letters += apply(fromCharCode, undefined, some);
  }
  return toBase64(letters);
}
