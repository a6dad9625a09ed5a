// What the own worlds of a tab's documents have kept: dialogs and console, of its page and of the frames that may be read.
//
// Owns the way to it. Everything there is text of a page. Must never give what a frame says that the session may not use.

import { runIn, runInEach } from "../../shared/browser/tabs.ts";
import type { Hand } from "./hand.ts";
import { KEPT, MOST_OF_BODY } from "./page/commands.ts";
import { placeOf } from "./places.ts";

export interface KeptByPage {
  /** `planned`: its answer was decided before. */
  dialogs: { kind: string; message: string; answer: string; planned: boolean }[];
  console: { level: string; text: string; at: number }[];
}

/** What a script of a page's asked of a server, and was answered. */
export interface KeptBody {
  request: string;
  response: string;
}

/** How the next question is answered. */
export interface Next {
  accept: boolean;
  text?: string;
}

type Where = Pick<Hand, "tab" | "documents" | "mayUse">;

/** What frames may take longer than is not waited for, in milliseconds. */
const FRAMES_MS = 1_000;

const MOST_MESSAGES = 500;

/** What was kept, without values of secret fields. Nothing of a document that is another one by now. */
export async function keptBy(where: Where): Promise<KeptByPage> {
  const { tab, documents, mayUse } = where;
  const { all, frames } = await inAll(where, readKept, {});
  // After it was read: what a page shows and says may have come into its fields a moment ago.
  await documents.noteSecrets(tab.id, mayUse, frames);
  const dialogs = all.flatMap((kept) => kept?.dialogs ?? []);
  // The answer was for one question, whichever frame asked it.
  if (all.length > 1 && dialogs.some(({ kind }) => kind === "confirm" || kind === "prompt")) await setNext(where, undefined);
  const messages = all.flatMap((kept) => kept?.console ?? []).sort((one, other) => one.at - other.at);
  return documents.secrets.without([tab.id], { dialogs, console: messages.slice(-MOST_MESSAGES) });
}

/** The next question of the page, or of a frame in it, is answered so; nothing: as if nobody had said anything. */
export const setNext = async (where: Where, next: Next | undefined): Promise<void> => void (await inAll(where, putNext, { next: next ?? null }));

/** The bodies of requests with this method and address, of each document in the order of their answers. */
export async function bodiesBy(where: Where, method: string, url: string): Promise<KeptBody[]> {
  const { all, frames } = await inAll(where, readBodies, { method, url, most: MOST_OF_BODY });
  await where.documents.noteSecrets(where.tab.id, where.mayUse, frames);
  return all.flatMap((bodies) => bodies ?? []);
}

/** Has something done in the own world of the page, and of all frames in it that may be read. */
async function inAll<A, R>({ tab: { id, url }, documents, mayUse }: Where, run: (argument: A & { name: string; places: string[] }) => R, argument: A): Promise<{ all: (Awaited<R> | undefined)[]; frames: number[] }> {
  const given = (urls: string[]) => ({ ...argument, name: KEPT, places: urls.map(placeOf) });
  const top = runIn(id, 0, run, given([url]), false).catch(() => undefined);
  const frames = (await documents.judgedFrames(id, mayUse)).filter(({ frameId, may }) => may && frameId !== 0);
  const late = new Promise<[]>((resolve) => setTimeout(() => resolve([]), FRAMES_MS));
  const inner = frames.length === 0 ? [] : Promise.race([runInEach(id, frames.map(({ frameId }) => frameId), run, given(frames.map((frame) => frame.url))), late]);
  return { all: [await top, ...(await inner)], frames: frames.map(({ frameId }) => frameId) };
}

/** Runs in the page's world: takes the dialogs, and copies what is in the console. */
function readKept({ name, places }: { name: string; places: string[] }): KeptByPage | undefined {
  // A page cannot give itself another location.
  if (!places.includes(location.origin === "null" ? location.href : location.origin)) return undefined;
  const kept = (window as unknown as { [name: string]: KeptByPage | undefined })[name];
  if (kept === undefined) return undefined;
  const words = (value: unknown) => String(value).slice(0, 2_000);
  return {
    dialogs: kept.dialogs.splice(0).map(({ kind, message, answer, planned }) => ({ kind: words(kind), message: words(message), answer: words(answer), planned: planned === true })),
    console: kept.console.slice(-500).map(({ level, text, at }) => ({ level: words(level), text: words(text), at: Number(at) })),
  };
}

/** Runs in the page's world. */
function readBodies({ name, places, method, url, most }: { name: string; places: string[]; method: string; url: string; most: number }): KeptBody[] | undefined {
  if (!places.includes(location.origin === "null" ? location.href : location.origin)) return undefined;
  const kept = (window as unknown as { [name: string]: { bodies: (KeptBody & { method: string; url: string })[] } | undefined })[name];
  const words = (value: unknown) => String(value).slice(0, most);
  const isIt = (one: { method: string; url: string }) => one.method === method && String(one.url).replace(/#.*/, "") === url;
  return kept?.bodies.filter(isIt).map(({ request, response }) => ({ request: words(request), response: words(response) }));
}

/** Runs in the page's world. */
function putNext({ name, places, next }: { name: string; places: string[]; next: Next | null }): void {
  if (!places.includes(location.origin === "null" ? location.href : location.origin)) return;
  const kept = (window as unknown as { [name: string]: { next: Next | undefined } | undefined })[name];
  if (kept !== undefined) kept.next = next ?? undefined;
}
