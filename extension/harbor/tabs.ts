// Tabs that something was allowed for once: when one closes, that ends.
//
// Owns the list of them, kept as long as the browser runs. Must never start the bridge for it: where there is no
// connection, the tab stays on the list until there is one.

import type { Store } from "../shared/browser/api.ts";

const KEY = "tabs";

interface Tabs {
  open: number[];
  /** Closed, and the bridge does not know yet. */
  closed: number[];
}

export class GrantedTabs {
  readonly #store: Store;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Something is allowed for this tab. */
  note(tab: number): Promise<void> {
    return this.#change(({ open, closed }) => ({ open: [...new Set([...open, tab])], closed }));
  }

  /** The tab is gone. */
  close(tab: number): Promise<void> {
    return this.#change(({ open, closed }) => {
      if (!open.includes(tab)) return { open, closed };
      return { open: open.filter((one) => one !== tab), closed: [...closed, tab] };
    });
  }

  /** Tells the bridge of each tab that is gone; where that fails, it stays on the list. */
  async tell(expire: (tab: number) => Promise<unknown>): Promise<void> {
    const { closed } = await this.#read();
    for (const tab of closed) {
      await expire(tab);
      await this.#change((tabs) => ({ ...tabs, closed: tabs.closed.filter((one) => one !== tab) }));
    }
  }

  /** One after the other, since reading and writing are two steps. */
  #change(change: (tabs: Tabs) => Tabs): Promise<void> {
    const done = this.#turn.then(async () => this.#store.set(KEY, change(await this.#read())));
    this.#turn = done.catch(() => undefined);
    return done;
  }

  async #read(): Promise<Tabs> {
    const { open, closed } = Object(await this.#store.get(KEY)) as Partial<Tabs>;
    return { open: open ?? [], closed: closed ?? [] };
  }
}
