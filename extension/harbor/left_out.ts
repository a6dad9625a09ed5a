// Which servers the person has left out of what a site was allowed, so that it is not asked about these at each click.
//
// Owns that list, kept as long as the browser runs. Must never decide what a site may: what is on the list is only not asked about
// by a question that names no tools, and not ticked in the next one.

import type { Store } from "../shared/browser/api.ts";

const KEY = "leftOut";

export class LeftOut {
  readonly #store: Store;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(store: Store) {
    this.#store = store;
  }

  /** The servers, each as `server/*`. `site`: an origin in its profile. */
  async of(site: string): Promise<string[]> {
    await this.#turn;
    return (await this.#read()).get(site) ?? [];
  }

  /** The person was shown these, and has chosen those. */
  note(site: string, shown: string[], chosen: string[]): Promise<void> {
    const turn = this.#turn.then(async () => {
      const all = await this.#read();
      const left = [...new Set([...(all.get(site) ?? []), ...shown])].filter((server) => !chosen.includes(server));
      all.set(site, left);
      await this.#store.set(KEY, [...all].filter(([, servers]) => servers.length > 0));
    });
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #read(): Promise<Map<string, string[]>> {
    return new Map(((await this.#store.get(KEY)) as [string, string[]][] | undefined) ?? []);
  }
}
