// From TypeScript to what node runs: one file for each entry.
//
// Owns what tests and programs are told of a build. Must never write outside the directory that it is given.

import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/** This workspace. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * Bundles `entries`, files below the root, into `out`; the files that node runs, in the same order.
 * @param {string[]} entries
 * @param {string} out
 * @returns {Promise<string[]>}
 */
export async function bundle(entries, out) {
  await build({
    absWorkingDir: root,
    entryPoints: entries,
    outdir: out,
    outbase: ".",
    outExtension: { ".js": ".mjs" },
    bundle: true,
    packages: "external",
    format: "esm",
    platform: "node",
    target: "node20",
    sourcemap: "inline",
    define: {
      __BROWSER__: '"chrome"',
      __VERSION__: '"0.0.0"',
      __HARBOR_ID__: '"harbor-id"',
      __WEB_AGENTS_API_ID__: '"web-agents-api-id"',
      __ROOT__: JSON.stringify(root),
    },
    logLevel: "warning",
  });
  return entries.map((entry) => join(out, entry.replace(/\.(ts|mjs)$/, ".mjs")));
}
