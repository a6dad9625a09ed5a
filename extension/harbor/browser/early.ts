// The script of a page's own world, in the documents of sessions before their own scripts. Chromium puts a file there too late for
// that when it is asked at the document's beginning: it has to know before.
//
//   hosts of sessions' tabs ─► registered ─► document begins ─► a session's: it stays, and is told so
//                                                             ─► the person's: it goes again, and had answered nothing
//
// Owns for which hosts it is registered: those where sessions are or go, as long as they do. Must never leave it in a tab of the
// person's.

import { placeEarly, placeIn, runIn } from "../../shared/browser/tabs.ts";
import { KEPT } from "./page/commands.ts";

/** The file with what runs in the page's own world. */
const OWN_WORLD = "browser_own_world.js";

export class Early {
  #hosts: string | undefined;
  #work: Promise<void> = Promise.resolve();

  /** From now on it is there for these hosts alone; settles once it is. */
  follow(hosts: string[]): Promise<void> {
    const key = hosts.toSorted().join(" ");
    if (key === this.#hosts) return this.#work;
    this.#hosts = key;
    // Where a browser refuses it, the file comes when the document has begun.
    this.#work = this.#work.then(() => placeEarly(OWN_WORLD, hosts)).catch(() => undefined);
    return this.#work;
  }

  /** A document of a session's has begun. `keepsBodies`: what its scripts ask of servers is kept. */
  async begin(tabId: number, frameId: number, keepsBodies: boolean): Promise<void> {
    await placeIn(tabId, frameId, OWN_WORLD, false);
    await runIn(tabId, frameId, stay, { name: KEPT, keepsBodies }, false);
  }

  /** A document of the person's has begun. */
  async leave(tabId: number, frameId: number, url: string): Promise<void> {
    if ((this.#hosts ?? "").split(" ").includes(hostOf(url) ?? "")) await runIn(tabId, frameId, go, KEPT, false);
  }
}

/** The host of an address that a session may open. */
export function hostOf(url: string): string | undefined {
  try {
    const { protocol, hostname } = new URL(url);
    return /^https?:$/.test(protocol) ? hostname : undefined;
  } catch {
    return undefined;
  }
}

/** Runs in the page's world. */
function stay({ name, keepsBodies }: { name: string; keepsBodies: boolean }): void {
  const kept = (window as unknown as { [name: string]: { isOurs: boolean; keepsBodies: boolean; bodies: unknown[] } | undefined })[name];
  if (kept === undefined) return;
  kept.keepsBodies = keepsBodies;
  kept.isOurs = true;
  // What came before anybody had said anything.
  if (!keepsBodies) kept.bodies.length = 0;
}

/** Runs in the page's world. */
function go(name: string): void {
  (window as unknown as { [name: string]: { undo(): void } | undefined })[name]?.undo();
}
