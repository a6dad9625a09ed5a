// `browser_take_screenshot`: what is to be seen of the tab, of an element or a region of it, or the whole page in pieces; at most
// 1,568 pixels on a side.

import { pictureOf } from "../../../shared/browser/tabs.ts";
import { isFields } from "../../../shared/ports/wire.ts";
import { ToolError, isOn, numbers, texts } from "../call.ts";
import { WentAway } from "../documents.ts";
import { type Hand, type Tool, inDocument, now } from "../hand.ts";
import type { Replies } from "../page/commands.ts";
import { LONGEST, base64, blobOf } from "../picture.ts";

/** How many windows high a page is drawn at most. */
const MOST_PIECES = 12;

/** How often it is drawn anew when its documents were not the same before and after. */
const TIMES = 3;

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

interface Drawn {
  picture: ImageBitmap | OffscreenCanvas;
  /** How many pixels of it are one of the page's. */
  scale: number;
}

export const takeScreenshot: Tool = async (hand) => {
  const { args } = hand;
  const target = texts(args, "target");
  if (target !== undefined && isOn(args, "fullPage")) throw new ToolError("a picture is of the full page or of a target, not of both");
  const isPng = texts(args, "type") !== "jpeg";
  const { picture, scale, place } = await veiled(hand, async () => {
    const place = await inDocument(hand, target, "place", { target });
    return { place, ...(await (isOn(args, "fullPage") ? whole(hand, place) : shownPart(hand, place))) };
  });
  const part = target !== undefined ? scaled(place, scale) : isFields(args["region"]) ? scaled(regionOf(args["region"]), scale) : undefined;
  const box = within(part ?? { x: 0, y: 0, width: picture.width, height: picture.height }, picture);
  const wanted = texts(args, "scale") === "css" ? 1 / scale : 1;
  const factor = Math.min(1, wanted, LONGEST / Math.max(box.width, box.height));
  const canvas = new OffscreenCanvas(Math.max(1, Math.round(box.width * factor)), Math.max(1, Math.round(box.height * factor)));
  canvas.getContext("2d")?.drawImage(picture, box.x, box.y, box.width, box.height, 0, 0, canvas.width, canvas.height);
  const blob = await canvas.convertToBlob(isPng ? { type: "image/png" } : { type: "image/jpeg", quality: 0.75 });
  const pixels = scale * factor;
  return {
    said: `A picture of ${canvas.width}×${canvas.height} pixels; ${pixels.toFixed(3)} pixels of it are one of the page's.`,
    image: { data: base64(new Uint8Array(await blob.arrayBuffer())), mimeType: blob.type },
    structured: { width: canvas.width, height: canvas.height, factor: pixels },
  };
};

/** No picture has what no reader gives: secrets, and documents that the session may not use. */
async function veiled<T>(hand: Hand, draw: () => Promise<T>): Promise<T> {
  const { tab, watch } = hand;
  for (let time = 0; time < TIMES; time += 1) {
    // A document that came meanwhile had no veil.
    const before = watch.commitsOf(tab.id);
    const drawn = await underVeil(hand, draw);
    // What was drawn is there still, and may be: the browser may tell later that another document has come.
    await inDocument(hand, undefined, "place", {});
    if (watch.commitsOf(tab.id) === before) return drawn;
  }
  throw new ToolError("the page, or a frame in it, changed its document during the screenshot. Call again");
}

async function underVeil<T>({ documents, tab, mayUse }: Hand, draw: () => Promise<T>): Promise<T> {
  const frames = await documents.judgedFrames(tab.id, mayUse);
  const put = (over: (may: boolean) => "all" | "secrets" | "nothing") =>
    Promise.all(frames.map(({ frameId, may }) => documents.run(tab.id, frameId, "veil", { over: over(may) }).catch(leftAlone)));
  try {
    await put((may) => (may ? "secrets" : "all"));
    return await draw();
  } finally {
    await put(() => "nothing");
  }
}

/** A frame that has gone, or in which nothing may run, which are pages of the browser itself. */
function leftAlone(error: unknown): void {
  if (!(error instanceof WentAway) && !(error instanceof ToolError)) throw error;
}

async function shot(hand: Hand): Promise<ImageBitmap> {
  const picture = await pictureOf(await now(hand));
  if (picture !== undefined) return createImageBitmap(blobOf(picture));
  throw new ToolError("this browser cannot draw a hidden tab. Show it by browser_tabs with action select and background false, or read it by browser_snapshot");
}

async function shownPart(hand: Hand, { windowWidth }: Replies["place"]): Promise<Drawn> {
  const picture = await shot(hand);
  return { picture, scale: picture.width / windowWidth };
}

/** The page from its top, window by window; afterwards it is where it was. */
async function whole(hand: Hand, place: Replies["place"]): Promise<Drawn> {
  try {
    return await fromTop(hand, place);
  } finally {
    await inDocument(hand, undefined, "scroll", { x: place.scrolledX, y: place.scrolledY, to: "place" }).catch(leftAlone);
  }
}

async function fromTop(hand: Hand, { windowWidth, windowHeight, pageHeight }: Replies["place"]): Promise<Drawn> {
  const pieces = Math.min(Math.ceil(pageHeight / windowHeight), MOST_PIECES);
  let canvas: OffscreenCanvas | undefined;
  let scale = 1;
  await inDocument(hand, undefined, "scroll", { to: "top", x: 0, y: 0 });
  for (let piece = 0; piece < pieces; piece += 1) {
    const picture = await shot(hand);
    scale = picture.width / windowWidth;
    canvas ??= new OffscreenCanvas(picture.width, Math.round(Math.min(pageHeight, pieces * windowHeight) * scale));
    // The last piece is as far down as the page goes.
    const top = Math.min(piece * windowHeight, Math.max(0, pageHeight - windowHeight));
    canvas.getContext("2d")?.drawImage(picture, 0, top * scale);
    if (piece + 1 < pieces) await inDocument(hand, undefined, "scroll", { x: 0, y: windowHeight });
  }
  return { picture: canvas ?? (await shot(hand)), scale };
}

function regionOf(fields: { [name: string]: unknown }): Box {
  return { x: numbers(fields, "x") ?? 0, y: numbers(fields, "y") ?? 0, width: numbers(fields, "width") ?? 0, height: numbers(fields, "height") ?? 0 };
}

const scaled = ({ x, y, width, height }: Box, scale: number): Box => ({ x: x * scale, y: y * scale, width: width * scale, height: height * scale });

function within(box: Box, { width, height }: { width: number; height: number }): Box {
  const [x, y] = [Math.max(0, box.x), Math.max(0, box.y)];
  const part = { x, y, width: Math.min(box.x + box.width, width) - x, height: Math.min(box.y + box.height, height) - y };
  if (part.width < 1 || part.height < 1) throw new ToolError("no part of it is in the window");
  return part;
}
