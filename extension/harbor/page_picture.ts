// Pictures of tabs for pages: documents of the page's own origin only, without its password, code and card fields.
//
//   frames judged ─► veiled: others' documents, secret fields ─► where these stand ─► the picture ─► judged anew: the same? ─► drawn over ─► JPEG
//
// Owns that loop. Must never give a picture in which a document was that was not judged, or that was taken while another tab was shown.

import { pictureOf, tabOf } from "../shared/browser/tabs.ts";
import { CodedError } from "../shared/protocol/codes.ts";
import { Closed, type Documents, WentAway } from "./browser/documents.ts";
import type { Box } from "./browser/page/commands.ts";
import { LONGEST, base64, blobOf } from "./browser/picture.ts";

/** How often it is taken anew when the page was not the same before and after. */
const TIMES = 3;

/** So much is drawn over around each box, in pixels of the page: borders and shadows. */
const MARGIN = 2;

/** A tab for the documents of one origin. */
export interface Seen {
  documents: Documents;
  tab: number;
  origin: string;
}

/** What is to be seen of the tab, as a data URL. */
export async function pictureFor(seen: Seen, signal: AbortSignal): Promise<string> {
  for (let time = 0; time < TIMES; time += 1) {
    signal.throwIfAborted();
    const taken = await underVeil(seen).catch(goneOrThrown);
    if (taken !== undefined) return drawnOver(taken);
  }
  throw new CodedError("ERR_TOOL_FAILED", "the page, or a frame in it, did not stay the same while the picture was taken");
}

/** Where a frame has gone meanwhile there is no picture yet. */
function goneOrThrown(error: unknown): undefined {
  if (!(error instanceof WentAway) || error instanceof Closed) throw error;
}

interface Taken {
  picture: string;
  covers: Box[];
  windowWidth: number;
}

/** Whether an address is one of the page's own documents. */
const isOf = (origin: string) => async (url: string) => URL.canParse(url) && new URL(url).origin === origin;

async function underVeil({ documents, tab, origin }: Seen): Promise<Taken | undefined> {
  const judge = () => documents.judgedFrames(tab, isOf(origin));
  const frames = await judge();
  const put = (over: (may: boolean) => "all" | "fields" | "nothing") =>
    Promise.all(frames.map(async ({ frameId, may }) => ({ may, before: (await documents.run(tab, frameId, "veil", { over: over(may) })).before })));
  let taken: Taken | undefined;
  try {
    await put((may) => (may ? "fields" : "all")).catch(refuse);
    const { covers, windowWidth } = await documents.run(tab, 0, "covers", {});
    const picture = await shot(tab);
    const after = await documents.run(tab, 0, "covers", {});
    if (isSame(frames, await judge())) taken = { picture, covers: [...covers, ...after.covers], windowWidth };
  } finally {
    const veils = await put(() => "nothing").catch(() => undefined);
    // A document that came meanwhile had no veil.
    if (veils === undefined || veils.some(({ may, before }) => before !== (may ? "fields" : "all"))) taken = undefined;
  }
  return taken;
}

/** What cannot be covered cannot be in a picture. */
function refuse(error: unknown): never {
  if (error instanceof WentAway) throw error;
  throw new CodedError("ERR_TOOL_FAILED", "there is a frame in the page that cannot be covered, so there is no picture of it");
}

async function shot(tab: number): Promise<string> {
  const view = await tabOf(tab);
  const picture = view === undefined ? undefined : await pictureOf(view);
  if (picture === undefined) throw new CodedError("ERR_TOOL_FAILED", "there is a picture of a tab only while its window shows it");
  return picture;
}

type Frame = { frameId: number; may: boolean };
const isSame = (before: Frame[], after: Frame[]): boolean => after.every(({ frameId, may }) => before.some((one) => one.frameId === frameId && one.may === may));

async function drawnOver({ picture, covers, windowWidth }: Taken): Promise<string> {
  const bitmap = await createImageBitmap(blobOf(picture));
  const factor = Math.min(1, LONGEST / Math.max(bitmap.width, bitmap.height));
  const canvas = new OffscreenCanvas(Math.max(1, Math.round(bitmap.width * factor)), Math.max(1, Math.round(bitmap.height * factor)));
  const context = canvas.getContext("2d");
  if (context === null) throw new CodedError("ERR_INTERNAL", "there is nothing to draw on");
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  const scale = canvas.width / windowWidth;
  context.fillStyle = "#000";
  for (const { x, y, width, height } of covers) context.fillRect((x - MARGIN) * scale, (y - MARGIN) * scale, (width + 2 * MARGIN) * scale, (height + 2 * MARGIN) * scale);
  const made = await canvas.convertToBlob({ type: "image/jpeg", quality: 0.85 });
  return `data:image/jpeg;base64,${base64(new Uint8Array(await made.arrayBuffer()))}`;
}
