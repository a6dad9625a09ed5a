// Which script of an extension is made of which file, and how.
//
// Owns the bundler's options, and how large a script may be that every page loads. Must never write anything.

import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

/** This workspace. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Bytes of a script, as it is sent. */
export const MOST = { "injected.js": 40_000, "content.js": 12_000 };

/**
 * Members of objects that never leave the script that makes them: neither a page nor a message has one of that name, which build/house.test.ts
 * holds. They are sent with names of one letter.
 */
export const INNER = ["check", "declared", "drafts", "ending", "expected", "isEmpty", "isEnded", "isPossible", "mayBeSystem", "onEnd", "onOverflow", "toolResponse", "wishes"];

/**
 * Scripts that are made alike. `panel`: what the panel loads when it is needed is a file of its own. `small`: without what only people read,
 * names too; what a page sees by its name is given that name in the code. `inner`: names of members as well.
 * @typedef {{ format: "esm" | "iife", panel?: boolean, small?: boolean, inner?: string[], files: Record<string, string> }} Set
 */

/**
 * Scripts of an extension: a module where the browser takes one, else one file that leaves nothing in its world.
 * @type {Record<import("./manifest.mjs").Extension, Set[]>}
 */
export const SCRIPTS = {
  harbor: [
    {
      format: "esm",
      files: {
        background: "harbor/background.ts",
        consent: "harbor/consent/consent.ts",
      },
    },
    { format: "esm", panel: true, files: { sidebar: "harbor/sidebar/sidebar.ts" } },
    { format: "iife", files: { browser_part: "harbor/browser/page/part.ts", browser_own_world: "harbor/browser/page/own_world.ts", page_part: "harbor/page/part.ts", page_source_part: "harbor/page_source/part.ts", page_source_world: "harbor/page_source/world.ts" } },
  ],
  "web-agents-api": [
    { format: "esm", files: { background: "web-agents-api/background.ts", options: "web-agents-api/options/options.ts" } },
    {
      format: "iife",
      // Every page that is opened loads the first two.
      small: true,
      inner: INNER,
      files: {
        content: "web-agents-api/content.ts",
        injected: "web-agents-api/page/injected.ts",
        prefer_always: "web-agents-api/page/prefer_always.ts",
        prefer_unavailable: "web-agents-api/page/prefer_unavailable.ts",
        prefer_never: "web-agents-api/page/prefer_never.ts",
      },
    },
  ],
};

/**
 * The mock, for developers of pages. People read it, so nothing is left out.
 * @type {Set}
 */
export const MOCK = { format: "iife", files: { "harbor-mock": "mock/mock.ts" } };

/**
 * How a set is bundled for a browser.
 * @param {Set} set
 * @param {import("./manifest.mjs").Browser} browser
 * @param {Record<string, string>} define
 * @returns {import("esbuild").BuildOptions}
 */
export function optionsOf({ format, panel = false, small = panel, inner, files }, browser, define) {
  return {
    absWorkingDir: root,
    entryPoints: files,
    bundle: true,
    format,
    splitting: panel,
    chunkNames: "[name]-[hash]",
    minifyWhitespace: small,
    minifyIdentifiers: small,
    ...(inner === undefined ? {} : { mangleProps: new RegExp(`^(${inner.join("|")})$`) }),
    target: browser === "chrome" ? "chrome120" : "firefox142",
    define,
    // Takes out what is for the other browser.
    minifySyntax: true,
    charset: "utf8",
    legalComments: "none",
    logLevel: "warning",
  };
}
