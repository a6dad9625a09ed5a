// What of a page's request goes on to the background: one of a fixed list, with fields of a fixed list, of a bounded size.
//
// Pure. Must never pass on what has no bound: a page that has got at the port can send anything. What a field may be is said in the
// background, where it is read: every page loads this, and no page gets around that.

import type { Handler } from "../shared/ports/answerer.ts";
import type { Caller } from "../shared/ports/caller.ts";
import { relayed } from "../shared/ports/relay.ts";
import { CodedError } from "../shared/protocol/codes.ts";
import type { Fields } from "../shared/ports/wire.ts";
import { FORM_REQUESTS, PAGE_REQUESTS } from "../shared/protocol/page.ts";

/** All fields that requests of pages have. None of them says who asks. */
const FIELDS = [
  "scopes reason tools tool args progress body stream own ask answer",
  "act tabId url selector timeout button doubleClick value values x y to",
  "task provider model useAllTools requireCitations maxToolCalls sessionId name llm systemPrompt temperature ttlMinutes",
]
  .join(" ")
  .split(" ");

/** How much all fields of a request hold together, in characters, and one list, in entries: more than the largest that is read. */
const MOST = 950_000;
const MOST_ENTRIES = 1_000;

/** The part of a request that goes on: texts, numbers, yes and no, and lists of these. Throws ERR_INVALID_REQUEST. */
export function passable(fields: Fields): Fields {
  const found: Fields = {};
  let left = MOST;
  const fits = (value: unknown): boolean => {
    left -= typeof value === "string" ? value.length : 1;
    return left >= 0 && (typeof value !== "object" || value === null);
  };
  for (const name of FIELDS) {
    const value = fields[name];
    if (value === undefined) continue;
    const isFine = Array.isArray(value) ? value.length <= MOST_ENTRIES && value.every(fits) : fits(value);
    if (!isFine) throw new CodedError("ERR_INVALID_REQUEST", `${name} is too large, or not of its type`);
    found[name] = Array.isArray(value) ? [...value] : value;
  }
  return found;
}

/**
 * @param gesture the number of the person's last click or key in the document
 * @param forms answers what concerns the document itself
 */
export function carrier(background: Pick<Caller, "call">, gesture: () => number, forms: Handler): Handler {
  return async (type, payload, context) => {
    if (FORM_REQUESTS.some((known) => known === type)) return forms(type, payload, context);
    const asked = PAGE_REQUESTS.find((known) => known === type);
    if (asked === undefined) throw new CodedError("ERR_INVALID_REQUEST", "there is no request of this type");
    // The number first: what is asked belongs to the click that came before it.
    const number = gesture();
    return background.call(asked, { ...passable(payload), gesture: number }, relayed(context));
  };
}
