// The name by which the bridge knows the profile of a page: the browser's own, and in Firefox the container in it.
//
// Owns the random id by which the bridge knows this browser again. Must never guess a name: a page would have what the person has allowed
// it in another browser.

import type { Store } from "../shared/browser/api.ts";
import type { NativeClient } from "../shared/native/client.ts";
import { DEFAULT_PROFILE } from "../shared/origins/profile.ts";

type Bridge = Pick<NativeClient, "request" | "greeting">;

const ID = "browserId";
const NAME = "browserName";

export class BrowserProfile {
  readonly #bridge: Bridge;
  readonly #stores: { local: Store; session: Store };
  /** The name, and the connection in which the bridge said it. */
  #named: { name: string; in: Bridge["greeting"] } | undefined;
  /** Made once: two pages that ask at the same time are in the same browser. */
  #id: Promise<string> | undefined;

  constructor(bridge: Bridge, stores: { local: Store; session: Store }) {
    this.#bridge = bridge;
    this.#stores = stores;
  }

  /** The profile of pages in this container; `undefined`: the default one. Asks the bridge once in each connection. */
  async of(container: string | undefined): Promise<string | undefined> {
    const { greeting } = this.#bridge;
    const known = greeting !== undefined && this.#named?.in === greeting ? this.#named.name : undefined;
    return joined(known ?? (await this.#ask()), container);
  }

  /** The same as the bridge called it last: no connection is made for that. */
  async lastOf(container: string | undefined): Promise<string | undefined> {
    const name = await this.#stores.session.get(NAME);
    return typeof name === "string" ? joined(name, container) : this.of(container);
  }

  async #ask(): Promise<string> {
    this.#id ??= this.#kept().catch((error: unknown) => {
      this.#id = undefined;
      throw error;
    });
    const { profile } = await this.#bridge.request("host_name_profile", { id: await this.#id });
    this.#named = { name: profile, in: this.#bridge.greeting };
    await this.#stores.session.set(NAME, profile);
    return profile;
  }

  async #kept(): Promise<string> {
    const known = await this.#stores.local.get(ID);
    if (typeof known === "string") return known;
    const made = crypto.randomUUID().slice(0, 8);
    await this.#stores.local.set(ID, made);
    return made;
  }
}

function joined(browser: string, container: string | undefined): string | undefined {
  if (browser === DEFAULT_PROFILE) return container;
  return container === undefined ? browser : `${browser}/${container}`;
}
