// Runs the tests: bundles every *.test.ts and hands it to node's own runner. `--e2e` takes those in e2e/ instead, which
// need browsers; words besides are file names to pick from.
//
// Owns which tests are run. Must never decide what passes: the exit code is node's.

import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { bundle, root } from "./bundle.mjs";

const words = process.argv.slice(2);
const e2e = words.includes("--e2e");
const picked = words.filter((word) => !word.startsWith("--"));
const ROOMS = e2e ? ["e2e"] : ["build", "harbor", "mock", "shared", "web-agents-api"];

/** @param {string} room */
async function testsOf(room) {
  const files = await readdir(join(root, room), { recursive: true });
  return files.filter((file) => /\.test\.(ts|mjs)$/.test(file)).map((file) => join(room, file));
}

const all = (await Promise.all(ROOMS.map(testsOf))).flat().sort();
const tests = all.filter((file) => picked.length === 0 || picked.some((word) => file.includes(word)));
if (tests.length === 0) throw new Error(`no test file has ${picked.join(", ")} in its name`);

// Inside the workspace, so that node finds its packages.
const out = await mkdtemp(join(root, ".test-"));
let code = 1;
try {
  const files = await bundle(tests, out);
  // Each file has a Harbor and browsers of its own, and waits for them most of the time.
  const jobs = e2e ? [`--test-concurrency=${availableParallelism() + 1}`] : [];
  const flags = ["--enable-source-maps", "--test", ...jobs];
  code = spawnSync(process.execPath, [...flags, ...files], { cwd: root, stdio: "inherit" }).status ?? 1;
} finally {
  await rm(out, { recursive: true, force: true });
}
process.exitCode = code;
