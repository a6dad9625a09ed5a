// Whether the person lets AI clients use this browser, and what these have open in it.
//
// Owns what is kept of the person's choice. On means: the person said so, and the browser's own permission for pages is there.

import type { Store } from "../../shared/browser/api.ts";
import { mayFollowDownloads } from "../../shared/browser/downloads.ts";
import { mayRunScripts, mayUsePages } from "../../shared/browser/tabs.ts";
import type { Fields } from "../../shared/ports/wire.ts";
import type { BrowserSource } from "./source.ts";

const KEY = "browserTools";

export interface SessionView {
  id: string;
  label: string;
  tabs: { id: number; title: string; url: string }[];
  /** The tool that was called last. */
  last?: string;
}

export interface BrowserToolsView {
  on: boolean;
  /** Whether the browser lets this extension use pages; has to be asked for by a click. */
  permitted: boolean;
  /** Whether clients may see what their tabs download; has to be asked for by a click, too. */
  downloads: boolean;
  /** Whether apps can run scripts in pages, where they were granted that. */
  scripts: boolean;
  /** By which name clients are granted its tools; absent while the bridge does not have them. */
  source?: string;
  sessions: SessionView[];
}

/** What the person wants otherwise; nothing: only to look. */
export interface BrowserToolsChange {
  on?: boolean;
  /** The session to be ended. */
  stop?: string;
}

export function parseChange({ on, stop }: Fields): BrowserToolsChange {
  return { ...(typeof on === "boolean" ? { on } : {}), ...(typeof stop === "string" ? { stop } : {}) };
}

export class BrowserTools {
  readonly #source: BrowserSource;
  readonly #store: Store;

  /** `tell`: hears of what changes. */
  constructor(source: BrowserSource, store: Store, tell: (view: BrowserToolsView) => void) {
    this.#source = source;
    this.#store = store;
    source.onChange(() => void this.#view().then(tell));
    void this.#view().then(({ on }) => source.switch(on));
  }

  async change({ on, stop }: BrowserToolsChange): Promise<BrowserToolsView> {
    if (on !== undefined) {
      await this.#store.set(KEY, on);
      await this.#source.switch(on);
    }
    if (stop !== undefined) await this.#source.stop(stop);
    await this.#source.refresh();
    return this.#view();
  }

  async #view(): Promise<BrowserToolsView> {
    const view = {
      on: (await this.#store.get(KEY)) === true,
      permitted: await mayUsePages(),
      downloads: await mayFollowDownloads(),
      scripts: await mayRunScripts(),
      sessions: await this.#source.sessions(),
    };
    return this.#source.id === undefined ? view : { ...view, source: this.#source.id };
  }
}
