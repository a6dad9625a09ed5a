// Colours in code, once somebody has seen code.
//
// Owns when the languages are loaded, and what has been coloured. Must never make anything of code but spans with its text.

import { visibleProse } from "../../../shared/text/visible.ts";
import { type Child, type VNode, h } from "../dom.ts";

/** What is longer stays as it is. */
export const MOST_COLOURED = 20_000;
const MOST_SPANS = 5_000;

/** A part of a code: its kind is a word of the grammar's, never of the code's. */
export type Part = string | { kind: string; parts: Part[] };

export interface Languages {
  knows(language: string): boolean;
  partsOf(code: string, language: string): Part[];
}

export class Highlighting {
  readonly #load: () => Promise<Languages>;
  readonly #waiting = new Set<() => void>();
  #languages: Languages | undefined;
  state: "unused" | "loading" | "ready" | "failed" = "unused";

  /** Loads the languages when they are needed, once. */
  constructor(load: () => Promise<Languages> = () => import("./languages.ts")) {
    this.#load = load;
  }

  /** Begins to load; calls `then` when it is ready. Where it cannot be, code stays plain. */
  want(then: () => void): void {
    if (this.state === "ready" || this.state === "failed") return;
    this.#waiting.add(then);
    if (this.state === "loading") return;
    this.state = "loading";
    void this.#load().then(
      (languages) => this.#ended("ready", languages),
      () => this.#ended("failed"),
    );
  }

  #ended(state: "ready" | "failed", languages?: Languages): void {
    [this.state, this.#languages] = [state, languages];
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const then of waiting) then();
  }

  /** The code in colours, or nothing where there are none for it. */
  coloured(code: string, language: string): Child[] | undefined {
    if (code.length > MOST_COLOURED || this.#languages?.knows(language) !== true) return undefined;
    try {
      const parts = this.#languages.partsOf(code, language);
      return count(parts) > MOST_SPANS ? undefined : parts.map(shown);
    } catch {
      return undefined;
    }
  }
}

function shown(part: Part): VNode | string {
  return typeof part === "string" ? visibleProse(part) : h("span", { "data-kind": part.kind }, ...part.parts.map(shown));
}

function count(parts: Part[]): number {
  return parts.reduce((sum, part) => sum + (typeof part === "string" ? 1 : 1 + count(part.parts)), 0);
}
