// Answers the page of the options.
//
// Owns its requests: two about the switches and two about whose `LanguageModel` sites have, each answered with how that is now. Must never be given to a port that is not of options.html.

import type { Store } from "../../shared/browser/api.ts";
import type { Handler } from "../../shared/ports/answerer.ts";
import { CodedError } from "../../shared/protocol/codes.ts";
import { isPageOrigin } from "../../shared/origins/origin.ts";
import { FLAGS_KEY, FLAG_NAMES, parseFlags } from "../flags.ts";
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
    const flags = parseFlags(await store.get(FLAGS_KEY));
    if (type === "look") {
      look();
      return flags;
    }
    const name = FLAG_NAMES.find((known) => known === flag);
    if (type !== "switch" || name === undefined || typeof on !== "boolean") {
      throw new CodedError("ERR_INVALID_REQUEST", "there is no such switch");
    }
    const changed = { ...flags, [name]: on };
    await store.set(FLAGS_KEY, changed);
    return changed;
  };
}
