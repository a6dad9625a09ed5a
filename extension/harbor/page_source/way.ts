// The way to the document of a tab: what is asked of its two parts, which are put there when they are missing.
//
// Owns how long a page may take to say which tools it has. Must never act in a frame: tools are the top document's.

import { placeIn, runIn } from "../../shared/browser/tabs.ts";
import type { Sensitive } from "../page/sensitive.ts";
import { type CallOrder, type Order, PART, PART_FILE, WORLD, WORLD_FILE } from "./forms.ts";
import type { Part } from "./part.ts";

/** How long a list may take, in milliseconds. */
const LIST_MS = 5_000;

/** What a document can be asked. Each rejects where the browser does not let it be. What comes from the page's own world is not looked at. */
export interface Way {
  /** Which kinds of sensitive fields it has. */
  fields(tabId: number): Promise<Sensitive[]>;
  list(tabId: number): Promise<unknown>;
  call(tabId: number, order: CallOrder): Promise<unknown>;
  cancel(tabId: number, key: string): Promise<void>;
  /** Has it open a port, and tell there that its tools have changed. */
  hear(tabId: number): Promise<void>;
}

export const way: Way = {
  fields: (tabId) => within(askPart(tabId, "fields", null)),
  list: (tabId) => within(askWorld(tabId, { do: "list" })),
  call: (tabId, order) => askWorld(tabId, { do: "call", ...order }),
  async cancel(tabId, key) {
    await askWorld(tabId, { do: "cancel", key });
  },
  async hear(tabId) {
    const event = crypto.randomUUID();
    await within(Promise.all([askPart(tabId, "hear", event), askWorld(tabId, { do: "hear", event })]));
  },
};

/** Runs in the document: must use nothing from around it. */
function inWorld({ name, order }: { name: string; order: Order }): unknown {
  const act = (window as unknown as { [key: symbol]: ((order: Order) => unknown) | undefined })[Symbol.for(name)];
  return act === undefined ? "missing" : act(order);
}

/** The same in the extension's own world. */
function inPart({ part, ask, event }: { part: string; ask: keyof Part; event: string | null }): unknown {
  const found = (globalThis as unknown as { [name: string]: { [ask in keyof Part]: (event: string | null) => unknown } | undefined })[part];
  return found === undefined ? "missing" : found[ask](event);
}

async function askWorld(tabId: number, order: Order): Promise<unknown> {
  const ask = () => runIn(tabId, 0, inWorld, { name: WORLD, order }, false);
  const first = await ask();
  if (first !== "missing") return first;
  await placeIn(tabId, 0, WORLD_FILE, false);
  return ask();
}

async function askPart<A extends keyof Part>(tabId: number, ask: A, event: string | null): Promise<ReturnType<Part[A]>> {
  const run = () => runIn(tabId, 0, inPart, { part: PART, ask, event });
  const first = await run();
  if (first !== "missing") return first as ReturnType<Part[A]>;
  await placeIn(tabId, 0, PART_FILE);
  return (await run()) as ReturnType<Part[A]>;
}

async function within<T>(work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => (timer = setTimeout(() => reject(new Error("the page does not answer")), LIST_MS)));
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
