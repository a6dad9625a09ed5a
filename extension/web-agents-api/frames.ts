// In which frames pages find `window.agent`: in those of origins that have a grant.
//
// Owns the list of these origins, as `harbor` tells it, and the scripts that are registered for it. Must never decide what a frame may: its
// requests are judged one by one, like those of any page. A list that is old shows an object that is refused everything.

import type { Store } from "../shared/browser/api.ts";
import { isPageOrigin } from "../shared/origins/origin.ts";

/** The key in storage. */
const KEY = "frames";

/** How many origins are kept. */
const MOST = 1_000;

/** Puts the scripts where these patterns match, and nowhere else. */
export type Place = (patterns: string[]) => Promise<void>;

export class Frames {
  readonly #store: Store;
  readonly #place: Place;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(store: Store, place: Place) {
    this.#store = store;
    this.#place = place;
  }

  /** These origins have grants, and no others. */
  replace(origins: string[]): Promise<void> {
    return this.#change(() => origins);
  }

  /** This origin has one, too. */
  add(origin: string): Promise<void> {
    return this.#change((known) => (known.includes(origin) ? undefined : [...known, origin]));
  }

  /** Registers the scripts again: a new version of the extension begins without. */
  restore(): Promise<void> {
    return this.#change((known) => known);
  }

  /** One after the other, since reading and writing are two steps. */
  #change(change: (known: string[]) => string[] | undefined): Promise<void> {
    const done = this.#turn.then(async () => {
      const origins = change(parseOrigins(await this.#store.get(KEY)))?.slice(0, MOST);
      if (origins === undefined) return;
      await this.#store.set(KEY, origins);
      await this.#place(patternsOf(origins, __BROWSER__));
    });
    this.#turn = done.catch(() => undefined);
    return done;
  }
}

/** Reads a list of origins. What is none is left out. */
export function parseOrigins(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return [...new Set(value.filter((origin) => typeof origin === "string" && isPageOrigin(origin)))];
}

/** The browser's patterns for all addresses of these origins. */
export function patternsOf(origins: string[], browser: "chrome" | "firefox"): string[] {
  // Firefox's patterns know no ports: there, frames of the same host's other ports have an `agent`, too, that is refused everything.
  const pattern = (origin: string) => (browser === "chrome" ? `${origin}/*` : `${origin.replace(/:\d+$/, "")}/*`);
  return [...new Set(origins.map(pattern))];
}
