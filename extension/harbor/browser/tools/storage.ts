// `browser_localstorage_*`, `browser_sessionstorage_*`: what the open page's site stores. The bridge has asked the person, for this client
// and site.
//
// Must never do anything in a document of another site than the one that was asked about: the document itself looks, in the same turn.

import { runIn } from "../../../shared/browser/tabs.ts";
import { DeniedError, ToolError, needed, texts } from "../call.ts";
import { WentAway } from "../documents.ts";
import type { Hand, Tool } from "../hand.ts";
import { lastOf } from "../page/bound.ts";

type Area = "local" | "session";
type Act = "list" | "get" | "set" | "delete" | "clear";
interface Wish {
  site: string;
  area: Area;
  act: Act;
  key: string;
  value: string;
  most: number;
}
type Found = { entries: [string, string][]; of: number } | { failed: string } | "elsewhere";

/** How much an answer has, in characters. */
const MOST = 100_000;

async function found(hand: Hand, area: Area, act: Act): Promise<{ entries: [string, string][]; of: number }> {
  const { args, tab, documents } = hand;
  await documents.awake(tab.id, 0);
  const wish: Wish = { site: needed(args, "site"), area, act, key: texts(args, "key") ?? "", value: texts(args, "value") ?? "", most: MOST };
  const given = await runIn(tab.id, 0, inStorage, wish);
  if (given === undefined) throw new WentAway("the page went to another document");
  if (given === "elsewhere") throw new DeniedError("the document is not of the site that was asked about");
  await documents.noteSecrets(tab.id, hand.mayUse);
  if ("failed" in given) throw new ToolError(`the page's storage does not allow this: ${given.failed}`);
  return given;
}

/** Runs in the document: must use nothing from around it. */
function inStorage({ site, area, act, key, value, most }: Wish): Found {
  if (self.origin !== site) return "elsewhere";
  try {
    const kept = area === "local" ? localStorage : sessionStorage;
    const of = kept.length;
    const entries: [string, string][] = [];
    const add = (name: string): void => {
      const text = kept.getItem(name);
      if (text !== null) entries.push([name, text.slice(0, most)]);
    };
    if (act === "get" || act === "delete") add(key);
    for (let at = 0, length = 0; act === "list" && at < of && length < most; at += 1) {
      add(kept.key(at) ?? "");
      length += entries.at(-1)?.join("").length ?? 0;
    }
    if (act === "set") kept.setItem(key, value);
    if (act === "delete") kept.removeItem(key);
    if (act === "clear") kept.clear();
    return { entries, of };
  } catch (error) {
    return { failed: error instanceof Error ? error.message : String(error) };
  }
}

const NAMES = { local: "local storage", session: "session storage" };

const list = (area: Area): Tool => async (hand) => {
  const { entries, of } = await found(hand, area, "list");
  const lines = entries.map(([key, value]) => `${hand.without(key)}=${hand.without(value)}`);
  return { said: `The ${NAMES[area]} has ${of} ${of === 1 ? "key" : "keys"}. A long value is cut: get it by its key.`, page: lastOf(lines, MOST) };
};

const get = (area: Area): Tool => async (hand) => {
  const { entries: [entry] } = await found(hand, area, "get");
  return entry === undefined ? { said: "There is no such key." } : { said: "The value:", page: entry[1] };
};

const set = (area: Area): Tool => async (hand) => {
  await found(hand, area, "set");
  return { said: "The value is set." };
};

const remove = (area: Area): Tool => async (hand) => {
  const { entries } = await found(hand, area, "delete");
  return { said: entries.length === 0 ? "There was no such key." : "The key is deleted." };
};

const clear = (area: Area): Tool => async (hand) => {
  const { of } = await found(hand, area, "clear");
  return { said: `Deleted: ${of}.` };
};

export const STORAGE_TOOLS: [string, Tool][] = (["local", "session"] as const).flatMap((area): [string, Tool][] =>
  Object.entries({ list, get, set, delete: remove, clear }).map(([act, make]) => [`browser_${area}storage_${act}`, make(area)]),
);
