// Snapshots of whole tabs: the documents of all frames that may be read, as one tree.
//
// Owns the last one of each tab, for what has changed since. Must never put a frame where it does not stand.

import { DeniedError, ToolError } from "./call.ts";
import { type Documents, WentAway } from "./documents.ts";
import type { Commands } from "./page/commands.ts";
import type { Line } from "./page/snapshot.ts";

interface Taken {
  number: number;
  lines: Line[];
}

export class Snapshots {
  #last = 0;
  readonly #taken = new Map<number, Taken>();
  readonly #documents: Documents;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  /** The lines of a tab, with those of its frames. */
  async take(tabId: number, options: Commands["snapshot"], mayRead: (url: string) => Promise<boolean>): Promise<Line[]> {
    const frame = this.#documents.frameOf(tabId, options.target);
    const top = await this.#documents.run(tabId, frame, "snapshot", options);
    if (!top.lines.some((line) => line.frame !== undefined)) return top.lines;
    const inner = new Map<string, Line[]>();
    let without = "its site was not allowed";
    const read = async (frameId: number) => {
      try {
        const { path, lines } = await this.#documents.run(tabId, frameId, "snapshot", { ...options, target: undefined });
        inner.set(path.join("."), lines);
      } catch (error) {
        // A frame that has gone meanwhile, or in which nothing may run, is shown without what stands in it.
        if (!(error instanceof WentAway) && !(error instanceof ToolError)) throw error;
        if (!(error instanceof DeniedError)) without = "its site was not allowed, or it did not answer";
      }
    };
    await Promise.all((await this.#documents.frames(tabId, mayRead)).map(read));
    // The one was read before it was known what the other has.
    return this.#documents.secrets.without([tabId], stitched(top.lines, top.path, inner, without));
  }

  /** Keeps the lines of a whole tab; the snapshot's number. */
  keep(tabId: number, lines: Line[]): number {
    this.#last += 1;
    this.#taken.set(tabId, { number: this.#last, lines });
    return this.#last;
  }

  /** The snapshot with this number, if it is the tab's last one. */
  before(tabId: number, number: number): Line[] | undefined {
    const taken = this.#taken.get(tabId);
    return taken?.number === number ? taken.lines : undefined;
  }

  forget(tabId: number): void {
    this.#taken.delete(tabId);
  }
}

function stitched(lines: Line[], path: number[], inner: Map<string, Line[]>, without: string): Line[] {
  return lines.flatMap((line) => {
    if (line.frame === undefined) return [line];
    const at = [...path, line.frame];
    const found = inner.get(at.join("."));
    if (found === undefined) return [{ ...line, text: `${line.text} (not read: ${without})` }];
    return [line, ...stitched(found, at, inner, without).map((one) => ({ ...one, depth: one.depth + line.depth + 1 }))];
  });
}
