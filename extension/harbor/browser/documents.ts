// The documents in the tabs of sessions: each gets a number, and the part that reads and acts there.
//
// Owns the numbers, which are never given twice, and that nothing is read or done in a document whose place was not judged: the
// part does nothing where it is elsewhere than was said. Must never be used for a tab that is not a session's.

import { framesOf, placeIn, runIn, tabOf } from "../../shared/browser/tabs.ts";
import { DeniedError, ToolError } from "./call.ts";
import { type Answer, type Command, type Commands, type Elsewhere, type Name, PART, type Replies } from "./page/commands.ts";
import type { Kind } from "./page/failure.ts";
import type { Numbers } from "./numbers.ts";
import { Secrets } from "./secrets.ts";

const FILE = "browser_part.js";

/** How often a document may have turned out to be another one before its page is given up. */
const TIMES = 5;

/** How long a page may take to answer anything at all, in milliseconds: one that is there, and one that is still loading. */
const ANSWER_MS = 2_000;
const LOADING_MS = 10_000;

/** A document that has answered so short a time ago is not asked whether it does, in milliseconds; before an action it is. */
const FRESH_MS = 50;
const ACTIONS: ReadonlySet<Name> = new Set<Name>(["click", "hover", "type", "key", "select", "fill", "drag", "scroll"]);

/** Of so many documents it is kept when they have answered. */
const MOST_ANSWERED = 200;

/** The page answers nothing: what else there is to say of it is not asked of it. */
export class Silent extends ToolError {}

/** The document's part could not do it. */
export class Failed extends ToolError {
  readonly kind: Kind;

  constructor({ kind, message }: { kind: Kind; message: string }) {
    super(message);
    this.kind = kind;
  }
}

/** The document has gone while something was done in it: it went to another page. */
export class WentAway extends Error {}

/** So has its tab. */
export class Closed extends WentAway {}

export const closed = (tabId: number): string => `tab ${tabId} is closed. browser_tabs lists this session's`;

/** What is known of tabs elsewhere. */
export interface Surely {
  /** Says when the document of a frame is replaced. */
  leaves(tabId: number, frameId: number): { gone: Promise<void>; stop(): void };
  /** Where the document that the tab shows is, if it may be used. */
  allowed(tabId: number): Promise<string | undefined>;
  /** Says something of the tab with its next answer. */
  tell(tabId: number, note: string): void;
  /** Whether the tab's session may use a document from there. */
  may(tabId: number, place: string): Promise<boolean>;
}

export class Documents {
  readonly #surely: Surely;
  readonly #numbers: Numbers;
  /** Where the document with this number was when it last answered. */
  readonly #places = new Map<number, { tabId: number; frameId: number }>();
  /** When the document of a frame has answered last. */
  readonly #answered = new Map<string, number>();
  /** What the documents have in their secret fields. */
  readonly secrets = new Secrets();
  highlight = true;

  constructor(surely: Surely, numbers: Numbers) {
    this.#surely = surely;
    this.#numbers = numbers;
  }

  /** Has a document do something. */
  async run<N extends Name>(tabId: number, frameId: number, name: N, options: Commands[N]): Promise<Replies[N]> {
    // What may not be read is veiled, too; that tells nothing of it.
    await this.awake(tabId, frameId, !ACTIONS.has(name));
    let place = name === "veil" ? undefined : ((await this.#surely.allowed(tabId)) ?? "");
    for (let time = 0; time < TIMES; time += 1) {
      // Others may ask for the first time of another document meanwhile.
      const generation = await this.#numbers.next();
      const answer = await this.#answer(tabId, frameId, { name, generation, highlight: this.highlight, place, options });
      // It was not taken, and no later one is given: it is free again.
      const isTaken = !("elsewhere" in answer) && answer.generation === generation;
      if (!isTaken) this.#numbers.giveBack(generation);
      if (!("elsewhere" in answer)) return this.#replied(tabId, frameId, answer);
      // A frame from another site, or a document that came a moment ago.
      place = answer.elsewhere;
      if (!(await this.#surely.may(tabId, place))) throw new DeniedError("this session may not use that page");
    }
    throw new WentAway("the page kept going to other documents");
  }

  /**
   * Fails where a page answers nothing at all. Asked before anything else is: what waits in such a page would be done whenever it
   * wakes, long after somebody was told that it was not.
   */
  async awake(tabId: number, frameId: number, isFreshEnough = true): Promise<void> {
    if (isFreshEnough && performance.now() - (this.#answered.get(`${tabId} ${frameId}`) ?? -FRESH_MS) < FRESH_MS) return;
    const leaves = this.#surely.leaves(tabId, frameId);
    // Where it cannot be asked, or went away meanwhile, that is said of what is asked next.
    const answer = runIn(tabId, frameId, () => true, null).then(() => true, () => true);
    const isAwake = (ms: number) => Promise.race([answer, leaves.gone.then(() => true), passed(ms)]);
    try {
      if (await isAwake(ANSWER_MS)) return void this.#note(tabId, frameId);
      const tab = await tabOf(tabId);
      if (tab?.loading && (await isAwake(LOADING_MS - ANSWER_MS))) return;
    } finally {
      leaves.stop();
    }
    throw new Silent("the page does not answer: it is busy, or shows a question of the browser itself. Try again, or close it with browser_close");
  }

  async #answer<N extends Name>(tabId: number, frameId: number, command: Command<N>): Promise<Answer<N> | Elsewhere> {
    // A browser may wait for ever for a document that went away while something was done in it.
    const leaves = this.#surely.leaves(tabId, frameId);
    const answer = await Promise.race([this.#ask(tabId, frameId, command), leaves.gone.then(() => undefined)]).finally(leaves.stop);
    if (answer === undefined) throw (await lossOf(tabId)) ?? new WentAway("the page went to another document");
    return answer;
  }

  #note(tabId: number, frameId: number): void {
    this.#answered.set(`${tabId} ${frameId}`, performance.now());
    // Pages come and go: the oldest says nothing any more.
    const [oldest] = this.#answered.keys();
    if (this.#answered.size > MOST_ANSWERED && oldest !== undefined) this.#answered.delete(oldest);
  }

  #replied<N extends Name>(tabId: number, frameId: number, answer: Answer<N>): Replies[N] {
    this.#note(tabId, frameId);
    this.#places.set(answer.generation, { tabId, frameId });
    this.secrets.note(tabId, frameId, answer.secrets);
    for (const note of answer.notes) this.#surely.tell(tabId, note);
    if ("failure" in answer) throw new Failed(answer.failure);
    return this.secrets.without([tabId], answer.reply);
  }

  /** Has each document of a tab that may be read say what stands in its secret fields: any other of them may have been given it. `known`: the frames that may be read, where they were listed a moment ago. */
  async noteSecrets(tabId: number, mayRead: (url: string) => Promise<boolean>, known?: number[]): Promise<void> {
    const note = (frameId: number) => this.run(tabId, frameId, "note", {});
    const frames = known === undefined ? this.frames(tabId, mayRead) : Promise.resolve(known);
    const all = frames.then((frames) => Promise.allSettled([0, ...frames].map(note)));
    // What has gone, or does not answer, has nothing to say; a frame holds nothing up longer than a page does.
    await Promise.race([all.catch(() => undefined), passed(ANSWER_MS)]);
  }

  /** Which frame of the tab a target is in: that of its ref, the top one for a selector. */
  frameOf(tabId: number, target: string | undefined): number {
    const number = /^f(\d+)e\d+$/.exec(target ?? "")?.[1];
    if (number === undefined) return 0;
    const place = this.#places.get(Number(number));
    if (place === undefined || place.tabId !== tabId) throw new ToolError("the named element belongs to another tab or document. Take a new snapshot");
    return place.frameId;
  }

  forget(tabId: number): void {
    for (const [number, place] of this.#places) if (place.tabId === tabId) this.#places.delete(number);
    this.secrets.forget(tabId);
  }

  async #ask<N extends Name>(tabId: number, frameId: number, command: Command<N>): Promise<Answer<N> | Elsewhere | undefined> {
    try {
      const first = await runIn(tabId, frameId, ask<N>, { part: PART, command });
      if (first !== "missing") return first;
      await placeIn(tabId, frameId, FILE);
      const second = await runIn(tabId, frameId, ask<N>, { part: PART, command });
      return second === "missing" ? undefined : second;
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      if (/removed|no frame|no tab|closed|navigat|invalid (tab|frame)|message manager|actor|unloaded/i.test(text)) return undefined;
      throw (await lossOf(tabId)) ?? new ToolError(`the browser does not allow the use of this page: ${text}`);
    }
  }

  /** The frames of a tab whose documents may be read, without the top one. */
  async frames(tabId: number, mayRead: (url: string) => Promise<boolean>): Promise<number[]> {
    const all = await this.judgedFrames(tabId, mayRead);
    return all.flatMap(({ frameId, may }) => (may && frameId !== 0 ? [frameId] : []));
  }

  /** All frames of a tab, and whether they may be read. What has no address of its own is as the document that made it. */
  async judgedFrames(tabId: number, mayRead: (url: string) => Promise<boolean>): Promise<{ frameId: number; may: boolean; url: string }[]> {
    const all = await framesOf(tabId);
    const known = new Map<number, Promise<boolean>>([[0, Promise.resolve(true)]]);
    const may = (frameId: number): Promise<boolean> => {
      const before = known.get(frameId);
      if (before !== undefined) return before;
      const frame = all.find((one) => one.frameId === frameId);
      const found = frame === undefined ? Promise.resolve(false) : /^about:(blank|srcdoc)$/.test(frame.url) ? may(frame.parentFrameId) : mayRead(frame.url);
      known.set(frameId, found);
      return found;
    };
    return Promise.all(all.map(async ({ frameId, url }) => ({ frameId, url, may: await may(frameId) })));
  }
}

const passed = (ms: number): Promise<false> => new Promise((resolve) => setTimeout(() => resolve(false), ms));

/** Why there is no document in a tab, where it is more than another page's coming. */
async function lossOf(tabId: number): Promise<Error | undefined> {
  const tab = await tabOf(tabId);
  if (tab === undefined) return new Closed(closed(tabId));
  if (tab.without === "crashed") return new ToolError("the page has crashed. browser_navigate with type reload loads it again");
  return tab.without === "discarded" ? new ToolError("the browser has unloaded the page to save memory. Call again to load it") : undefined;
}

/** Runs in the document: must use nothing from around it. */
function ask<N extends Name>({ part, command }: { part: string; command: Command<N> }): Promise<Answer<N> | Elsewhere> | "missing" {
  const run = (globalThis as unknown as { [name: string]: ((command: Command<N>) => Promise<Answer<N> | Elsewhere>) | undefined })[part];
  return run === undefined ? "missing" : run(command);
}
