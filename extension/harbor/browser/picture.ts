// Pictures of tabs as bytes: what models and clients get of them.
//
// Owns the largest size. Must never fetch: extensions' pages are closed to that.

/** The longest side of a picture: larger ones are refused or made smaller by those who read them. */
export const LONGEST = 1_568;

/** Of a data URL. */
export function blobOf(url: string): Blob {
  const bytes = Uint8Array.from(atob(url.slice(url.indexOf(",") + 1)), (letter) => letter.charCodeAt(0));
  return new Blob([bytes], { type: "image/png" });
}

export function base64(bytes: Uint8Array): string {
  let text = "";
  // In pieces: a call takes only so many arguments.
  for (let at = 0; at < bytes.length; at += 8_192) text += String.fromCharCode(...bytes.subarray(at, at + 8_192));
  return btoa(text);
}

/** A picture that is no larger than models take. */
export async function smaller(picture: Blob): Promise<{ data: string; mediaType: string }> {
  const bitmap = await createImageBitmap(picture);
  const factor = Math.min(1, LONGEST / Math.max(bitmap.width, bitmap.height));
  const canvas = new OffscreenCanvas(Math.max(1, Math.round(bitmap.width * factor)), Math.max(1, Math.round(bitmap.height * factor)));
  canvas.getContext("2d")?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  const made = await canvas.convertToBlob({ type: "image/jpeg", quality: 0.85 });
  return { data: base64(new Uint8Array(await made.arrayBuffer())), mediaType: made.type };
}
