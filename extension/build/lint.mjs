// Has web-ext look at the builds for Firefox. A warning is as good as an error.
//
// Owns how strict that is. Must never change a build.

import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { EXTENSIONS } from "./manifest.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const webExt = join(root, "node_modules", ".bin", "web-ext");
for (const extension of EXTENSIONS) {
  const source = join(root, "dist", `${extension}-firefox`);
  const args = ["lint", "--self-hosted", "--warnings-as-errors", "--source-dir", source];
  const { status } = spawnSync(webExt, args, { stdio: "inherit", env: { ...process.env, NO_UPDATE_NOTIFIER: "1" } });
  if (status !== 0) process.exitCode = 1;
}
