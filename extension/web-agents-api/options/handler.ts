// Answers the page of the options.
//
// Owns its requests: two about the switches and two about whose `LanguageModel` sites have, each answered with how that is now. Must never be given to a port that is not of options.html.

import type { Store } from "../../shared/browser/api.ts";
import type { Handler } from "../../shared/ports/answerer.ts";
import { CodedError } from "../../shared/protocol/codes.ts";
import { isPageOrigin } from "../../shared/origins/origin.ts";
import { FLAGS_KEY, FLAG_NAMES, type Flags, parseFlags } from "../flags.ts";
import { type Preferences, parsePreference } from "../preferences.ts";

/** The name of the port. */
export const OWN_PORT = "own";

/** @param look finds out whether Harbor is there; what comes of it is pushed */
export function optionsHandler(store: Store, preferences: Pick<Preferences, "all" | "set">, look: () => void): Handler {
  return async (type, { flag, on, origin, preference }) => {
    if (type === "preferences") return preferences.all();
    if (type === "prefer") {
      const known = parsePreference(preference);
      const isNone = preference === "missing";
      if (typeof origin !== "string" || !isPageOrigin(origin) || (known === undefined && !isNone)) {
        throw new CodedError("ERR_INVALID_REQUEST", "A site is written as https://site.example, without anything behind.");
      }
      return preferences.set(origin, known);
    }
    if (type === "look") {
      look();
      return parseFlags(await store.get(FLAGS_KEY));
    }
    if (type !== "switch") throw new CodedError("ERR_INVALID_REQUEST", "there is no such switch");
    return switchFlag(store, flag, on);
  };
}

/** Switches one, and gives how all of them are now. */
export async function switchFlag(store: Store, flag: unknown, on: unknown): Promise<Flags> {
  const name = FLAG_NAMES.find((known) => known === flag);
  if (name === undefined || typeof on !== "boolean") throw new CodedError("ERR_INVALID_REQUEST", "there is no such switch");
  const changed = { ...parseFlags(await store.get(FLAGS_KEY)), [name]: on };
  await store.set(FLAGS_KEY, changed);
  return changed;
}

/** What `harbor`'s panel is told of them; it switches one where it names one. */
export async function flagsFor(store: Store, { flag, on }: { [name: string]: unknown }): Promise<Flags> {
  return flag === undefined ? parseFlags(await store.get(FLAGS_KEY)) : switchFlag(store, flag, on);
}
