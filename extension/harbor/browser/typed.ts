// Secrets that were typed in a session by their names. The bridge takes them out of each answer, but knows no piece of one: where a
// text is cut they are taken out before.
//
// Owns them until their session is over. Must never hand one on.

import { type Fields, isFields } from "../../shared/ports/wire.ts";
import { patternOf } from "./page/patterns.ts";

/** A shorter one would be found in every other text. */
const SHORTEST = 6;

export class Typed {
  /** The names by the values. */
  readonly #sessions = new Map<string, Map<string, string>>();

  /** Notes what the bridge has put into the arguments of a call. */
  note(session: string, args: Fields): void {
    const fields = Array.isArray(args["fields"]) ? (args["fields"] as unknown[]).filter(isFields).map((field) => field["value"]) : [];
    for (const given of [args["text"], ...fields]) {
      if (!isFields(given) || typeof given["value"] !== "string" || given["value"].length < SHORTEST) continue;
      const all = this.#sessions.get(session) ?? new Map<string, string>();
      this.#sessions.set(session, all.set(given["value"], String(given["secret"])));
    }
  }

  /** A text without them. */
  without(session: string, text: string): string {
    let left = text;
    for (const [value, name] of this.#sessions.get(session) ?? []) left = left.replace(patternOf(value), () => `[${name}]`);
    return left;
  }

  forget(session: string): void {
    this.#sessions.delete(session);
  }
}
