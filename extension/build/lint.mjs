// Has web-ext look at the builds for Firefox. A warning is as good as an error.
//
// Owns how strict that is. Must never change a build.

import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { EXTENSIONS } from "./manifest.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const webExt = join(root, "node_modules", ".bin", "web-ext");

/**
 * Readability writes HTML: of a copy of the page in a document of its own, in which nothing runs and nothing is loaded. highlight.js
 * could write into an element, which nothing calls: we take its parts. Our own code has a test that forbids it.
 */
const ACCEPTED = { files: /^(browser_part|page_part|languages-\w+)\.js$/, code: "UNSAFE_VAR_ASSIGNMENT" };

for (const extension of EXTENSIONS) {
  const source = join(root, "dist", `${extension}-firefox`);
  const args = ["lint", "--self-hosted", "--source-dir", source, "--output", "json"];
  const env = { ...process.env, NO_UPDATE_NOTIFIER: "1" };
  const { stdout } = spawnSync(webExt, args, { stdio: ["ignore", "pipe", "inherit"], env, encoding: "utf8" });
  const { errors, notices, warnings } = JSON.parse(stdout);
  /** @type {{ file?: string, line?: number, code: string, message: string }[]} */
  const all = [...errors, ...notices, ...warnings];
  const found = all.filter(({ file, code }) => !ACCEPTED.files.test(file ?? "") || code !== ACCEPTED.code);
  for (const { file, line, code, message } of found) console.error(`${extension}: ${file ?? "manifest.json"}:${line ?? 0}: ${code}: ${message}`);
  if (found.length > 0) process.exitCode = 1;
}
