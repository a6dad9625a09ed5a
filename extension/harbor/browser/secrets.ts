// Values of secret fields in the tabs of sessions: what stands in a field of one document, another one may have been given.
//
//   each document's answer ─► noted ─► without: what documents say, before anything is looked for in it, and each whole answer
//
// Owns them, in memory, until their document has gone. Must never store one, log it or hand it on.

import { patternOf, without } from "./page/patterns.ts";

/** So many documents of a tab are remembered: a page could make frames for ever. */
const MOST = 50;

/** Of one document: each value with the pattern that finds it. */
type Values = Map<string, RegExp>;

export class Secrets {
  /** By tab and frame. */
  readonly #tabs = new Map<number, Map<number, Values>>();

  /** What the document in a frame has had in its secret fields: all of it, each time. */
  note(tabId: number, frameId: number, values: string[]): void {
    if (values.length === 0) return void this.#tabs.get(tabId)?.delete(frameId);
    const frames = this.#tabs.get(tabId) ?? new Map<number, Values>();
    const before = frames.get(frameId);
    frames.set(frameId, new Map(values.map((value) => [value, before?.get(value) ?? patternOf(value)])));
    this.#tabs.set(tabId, frames);
    const first = [...frames.keys()].find((id) => id !== 0);
    if (frames.size > MOST && first !== undefined) frames.delete(first);
  }

  /** The document in a frame has gone; with the page's own, those in its frames have. */
  left(tabId: number, frameId: number): void {
    if (frameId === 0) this.forget(tabId);
    else this.#tabs.get(tabId)?.delete(frameId);
  }

  forget(tabId: number): void {
    this.#tabs.delete(tabId);
  }

  /** The same without the values of these tabs' documents. */
  without<T>(tabIds: number[], told: T): T {
    return without(told, tabIds.flatMap((tabId) => [...(this.#tabs.get(tabId)?.values() ?? [])].flatMap((values) => [...values.values()])));
  }
}
