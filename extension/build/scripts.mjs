// Which script of an extension is made of which file, and how.
//
// Owns the bundler's options, and how large a script may be that every page loads. Must never write anything.

import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

/** This workspace. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Bytes of a script, as it is sent. */
export const MOST = { "injected.js": 42_000, "content.js": 18_000 };

/**
 * Scripts that are made alike. `panel`: what the panel loads when it is needed is a file of its own. `small`: without what only people read,
 * names too; what a page sees by its name is given that name in the code.
 * @typedef {{ format: "esm" | "iife", panel?: boolean, small?: boolean, files: Record<string, string> }} Set
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
    { format: "iife", files: { browser_part: "harbor/browser/page/part.ts", browser_own_world: "harbor/browser/page/own_world.ts", page_part: "harbor/page/part.ts" } },
  ],
  "web-agents-api": [
    { format: "esm", files: { background: "web-agents-api/background.ts", options: "web-agents-api/options/options.ts" } },
    {
      format: "iife",
      // Every page that is opened loads the first two.
      small: true,
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
export function optionsOf({ format, panel = false, small = panel, files }, browser, define) {
  return {
    absWorkingDir: root,
    entryPoints: files,
    bundle: true,
    format,
    splitting: panel,
    chunkNames: "[name]-[hash]",
    minifyWhitespace: small,
    minifyIdentifiers: small,
    target: browser === "chrome" ? "chrome120" : "firefox142",
    define,
    // Takes out what is for the other browser.
    minifySyntax: true,
    charset: "utf8",
    legalComments: "none",
    logLevel: "warning",
  };
}
