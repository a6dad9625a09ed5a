// Whether the person lets AI clients use this browser, and what these have open in it.
//
// Owns what is kept of the person's choice. On means: the person said so, and the browser's own permission for pages is there.

import type { Store } from "../../shared/browser/api.ts";
import { mayUseCookies } from "../../shared/browser/cookies.ts";
import { mayFollowDownloads } from "../../shared/browser/downloads.ts";
import { mayRunScripts, mayUsePages } from "../../shared/browser/tabs.ts";
import type { Fields } from "../../shared/ports/wire.ts";
import type { BrowserSource } from "./source.ts";

const KEY = "browserTools";
const MARKS = "browserMarks";

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
  /** Whether apps can use cookies, where they were granted that. */
  cookies: boolean;
  /** Whether apps can run scripts in pages, where they were granted that. */
  scripts: boolean;
  /** Whether an element is marked before it is used, where somebody may be looking. */
  marks: boolean;
  /** By which name clients are granted its tools; absent while the bridge does not have them. */
  source?: string;
  sessions: SessionView[];
}

/** What the person wants otherwise; nothing: only to look. */
export interface BrowserToolsChange {
  on?: boolean;
  marks?: boolean;
  /** The session to be ended. */
  stop?: string;
}

export function parseChange({ on, marks, stop }: Fields): BrowserToolsChange {
  return { ...(typeof on === "boolean" ? { on } : {}), ...(typeof marks === "boolean" ? { marks } : {}), ...(typeof stop === "string" ? { stop } : {}) };
}

export class BrowserTools {
  readonly #source: BrowserSource;
  readonly #store: Store;

  /** `tell`: hears of what changes. */
  constructor(source: BrowserSource, store: Store, tell: (view: BrowserToolsView) => void) {
    this.#source = source;
    this.#store = store;
    source.onChange(() => void this.#view().then(tell));
    void this.#view().then(({ on, marks }) => {
      source.mark(marks);
      return source.switch(on);
    });
  }

  async change({ on, marks, stop }: BrowserToolsChange): Promise<BrowserToolsView> {
    if (marks !== undefined) {
      await this.#store.set(MARKS, marks);
      this.#source.mark(marks);
    }
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
      cookies: await mayUseCookies(),
      scripts: await mayRunScripts(),
      marks: (await this.#store.get(MARKS)) !== false,
      sessions: await this.#source.sessions(),
    };
    return this.#source.id === undefined ? view : { ...view, source: this.#source.id };
  }
}
