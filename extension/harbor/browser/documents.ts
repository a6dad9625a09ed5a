// The documents in the tabs of sessions: each gets a number, and the part that reads and acts there.
//
// Owns the numbers, which are never given twice. Must never be used for a tab that is not a session's.

import { framesOf, placeIn, runIn, tabOf } from "../../shared/browser/tabs.ts";
import { ToolError } from "./call.ts";
import { type Answer, type Command, type Commands, type Name, PART, type Replies } from "./page/commands.ts";

const FILE = "browser_part.js";

/** The document has gone while something was done in it: it went to another page. */
export class WentAway extends Error {}

/** So has its tab. */
export class Closed extends WentAway {}

export const closed = (tabId: number): string => `tab ${tabId} is closed. browser_tabs lists this session's`;

/** Says when the document of a frame is replaced. */
export type Leaves = (tabId: number, frameId: number) => { gone: Promise<void>; stop(): void };

export class Documents {
  readonly #leaves: Leaves;
  #last = 0;
  /** Where the document with this number was when it last answered. */
  readonly #places = new Map<number, { tabId: number; frameId: number }>();
  highlight = true;

  constructor(leaves: Leaves) {
    this.#leaves = leaves;
  }

  /** Has a document do something. */
  async run<N extends Name>(tabId: number, frameId: number, name: N, options: Commands[N]): Promise<Replies[N]> {
    const command: Command<N> = { name, generation: this.#last + 1, highlight: this.highlight, options };
    // A browser may wait for ever for a document that went away while something was done in it.
    const leaves = this.#leaves(tabId, frameId);
    const answer = await Promise.race([this.#ask(tabId, frameId, command), leaves.gone.then(() => undefined)]).finally(leaves.stop);
    if (answer === undefined) throw (await lossOf(tabId)) ?? new WentAway("the page went to another document");
    this.#last = Math.max(this.#last, answer.generation);
    this.#places.set(answer.generation, { tabId, frameId });
    if ("failure" in answer) throw new ToolError(answer.failure.message);
    return answer.reply;
  }

  /** Which frame of the tab a target is in: that of its ref, the top one for a selector. */
  frameOf(tabId: number, target: string | undefined): number {
    const number = /^f(\d+)e\d+$/.exec(target ?? "")?.[1];
    if (number === undefined) return 0;
    const place = this.#places.get(Number(number));
    if (place === undefined || place.tabId !== tabId) throw new ToolError("the element named is of another tab or document. Take a new snapshot");
    return place.frameId;
  }

  forget(tabId: number): void {
    for (const [number, place] of this.#places) if (place.tabId === tabId) this.#places.delete(number);
  }

  async #ask<N extends Name>(tabId: number, frameId: number, command: Command<N>): Promise<Answer<N> | undefined> {
    try {
      const first = await runIn(tabId, frameId, ask<N>, { part: PART, command });
      if (first !== "missing") return first;
      await placeIn(tabId, frameId, FILE);
      const second = await runIn(tabId, frameId, ask<N>, { part: PART, command });
      return second === "missing" ? undefined : second;
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      if (/removed|no frame|no tab|closed|navigat|invalid (tab|frame)|message manager|actor|unloaded/i.test(text)) return undefined;
      throw (await lossOf(tabId)) ?? new ToolError(`the browser does not let this page be used: ${text}`);
    }
  }

  /** The frames of a tab whose documents may be read, without the top one. */
  async frames(tabId: number, mayRead: (url: string) => Promise<boolean>): Promise<number[]> {
    const all = await this.judgedFrames(tabId, mayRead);
    return all.flatMap(({ frameId, may }) => (may && frameId !== 0 ? [frameId] : []));
  }

  /** All frames of a tab, and whether they may be read. What has no address of its own is as the document that made it. */
  async judgedFrames(tabId: number, mayRead: (url: string) => Promise<boolean>): Promise<{ frameId: number; may: boolean }[]> {
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
    return Promise.all(all.map(async ({ frameId }) => ({ frameId, may: await may(frameId) })));
  }
}

/** Why there is no document in a tab, where it is more than another page's coming. */
async function lossOf(tabId: number): Promise<Error | undefined> {
  const tab = await tabOf(tabId);
  if (tab === undefined) return new Closed(closed(tabId));
  if (tab.without === "crashed") return new ToolError("the page has crashed. browser_navigate with type reload loads it again");
  return tab.without === "discarded" ? new ToolError("the browser has thrown the page out of memory. Call again: that loads it") : undefined;
}

/** Runs in the document: must use nothing from around it. */
function ask<N extends Name>({ part, command }: { part: string; command: Command<N> }): Promise<Answer<N>> | "missing" {
  const run = (globalThis as unknown as { [name: string]: ((command: Command<N>) => Promise<Answer<N>>) | undefined })[part];
  return run === undefined ? "missing" : run(command);
}
