// At which sites bodies of requests are kept for a session: where the person said yes, from then on.
//
// Must never say yes for a document of another site, whatever page it stands in.

import { originOf } from "./result.ts";

export class KeptBodies {
  readonly #asked = new Set<string>();

  /** The person has let a session have them at a site; whether they were kept there before. */
  keep(session: string, site: string): boolean {
    const key = `${session} ${site}`;
    const before = this.#asked.has(key);
    this.#asked.add(key);
    return before;
  }

  /** Whether they are kept of a document from there. */
  areKept(session: string, url: string): boolean {
    return this.#asked.has(`${session} ${originOf(url)}`);
  }

  ended(session: string): void {
    for (const key of this.#asked) if (key.startsWith(`${session} `)) this.#asked.delete(key);
  }
}
