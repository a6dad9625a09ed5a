// The languages of code that have colours: a file of its own, loaded when there is code.
//
// Owns `highlight.js`, which gives parts here and never HTML. Must never guess a language, or touch the page.

import core from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import cpp from "highlight.js/lib/languages/cpp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import type { Part } from "./highlighting.ts";

/** Keeps what the library finds. */
class Parts {
  readonly all: Part[] = [];
  readonly #open: Part[][] = [this.all];

  addText(text: string): void {
    const parts = this.#top;
    const last = parts.length - 1;
    if (typeof parts[last] === "string") parts[last] += text;
    else if (text !== "") parts.push(text);
  }

  /** How the library begins a part, under both of its names. */
  openNode(scope: string): void {
    this.startScope(scope);
  }

  closeNode(): void {
    this.endScope();
  }

  startScope(scope: string): void {
    const part = { kind: scope.split(".")[0] ?? "", parts: [] };
    this.#top.push(part);
    this.#open.push(part.parts);
  }

  endScope(): void {
    if (this.#open.length > 1) this.#open.pop();
  }

  /** A language within another: a style in a page. */
  __addSublanguage(parts: Parts, language: string): void {
    this.#top.push({ kind: `language-${language}`, parts: parts.all });
  }

  finalize(): void {}

  toHTML(): string {
    return "";
  }

  get #top(): Part[] {
    return this.#open.at(-1) ?? this.all;
  }
}

const library = core.newInstance();
library.configure({ __emitter: Parts as never });
const languages = { bash, cpp, css, diff, go, java, javascript, json, python, rust, sql, typescript, xml, yaml };
for (const [name, language] of Object.entries(languages)) library.registerLanguage(name, language);
library.registerAliases(["c", "h"], { languageName: "cpp" });
library.registerAliases(["shell", "console"], { languageName: "bash" });

export function knows(language: string): boolean {
  return library.getLanguage(language) !== undefined;
}

export function partsOf(code: string, language: string): Part[] {
  const { _emitter, errorRaised } = library.highlight(code, { language, ignoreIllegals: true });
  if (errorRaised !== undefined) throw errorRaised;
  return (_emitter as unknown as Parts).all;
}
