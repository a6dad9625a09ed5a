// Whose `LanguageModel` origins have, where the person has said so.
//
// Owns that list and the scripts that are registered for it. Must never let a page have a say: it is asked before the page's first script.

import type { Store } from "../shared/browser/api.ts";
import { isPageOrigin } from "../shared/origins/origin.ts";
import { isFields } from "../shared/ports/wire.ts";
import { PREFERENCES, type Preference } from "../shared/protocol/page.ts";
import { patternsOf } from "./frames.ts";

/** The key in storage. */
const KEY = "languageModel";

/** How many origins are kept. */
const MOST = 200;

/** What the person has said of an origin. */
export interface Preferred {
  origin: string;
  preference: Preference;
}

/** Puts the script of a preference where these patterns match, and nowhere else. */
export type PlacePreference = (preference: Preference, patterns: string[]) => Promise<void>;

export class Preferences {
  readonly #store: Store;
  readonly #place: PlacePreference;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(store: Store, place: PlacePreference) {
    this.#store = store;
    this.#place = place;
  }

  async all(): Promise<Preferred[]> {
    return parsePreferences(await this.#store.get(KEY));
  }

  /** Says it of an origin; `undefined` takes it back. What there is then. */
  set(origin: string, preference: Preference | undefined): Promise<Preferred[]> {
    return this.#change((known) => {
      const others = known.filter((one) => one.origin !== origin);
      return preference === undefined ? others : [...others, { origin, preference }].slice(-MOST);
    });
  }

  /** Registers the scripts again: a new version of the extension begins without. */
  async restore(): Promise<void> {
    await this.#change((known) => known);
  }

  /** One after the other, since reading and writing are two steps. */
  #change(change: (known: Preferred[]) => Preferred[]): Promise<Preferred[]> {
    const done = this.#turn.then(async () => {
      const all = change(await this.all());
      await this.#store.set(KEY, Object.fromEntries(all.map(({ origin, preference }) => [origin, preference])));
      for (const preference of PREFERENCES) {
        const origins = all.filter((one) => one.preference === preference).map(({ origin }) => origin);
        await this.#place(preference, patternsOf(origins, __BROWSER__));
      }
      return all;
    });
    this.#turn = done.catch(() => undefined);
    return done;
  }
}

/** Reads what is stored. What is none is left out. */
export function parsePreferences(stored: unknown): Preferred[] {
  const entries = Object.entries(isFields(stored) ? stored : {});
  return entries.flatMap(([origin, value]) => {
    const preference = parsePreference(value);
    return preference === undefined || !isPageOrigin(origin) ? [] : [{ origin, preference }];
  });
}

export function parsePreference(value: unknown): Preference | undefined {
  return PREFERENCES.find((known) => known === value);
}
