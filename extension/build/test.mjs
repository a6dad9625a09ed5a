// Runs the tests: bundles every *.test.ts and hands it to node's own runner. `--e2e` takes those in e2e/ instead, which
// need browsers; words besides are file names to pick from. `--bench` runs e2e/bench.ts, and hands it the other words.
//
// Owns the way from TypeScript to node. Must never decide what passes: the exit code is node's.

import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const words = process.argv.slice(2);
const e2e = words.includes("--e2e");
const bench = words.includes("--bench");
const picked = words.filter((word) => !word.startsWith("--"));
const ROOMS = e2e ? ["e2e"] : ["build", "harbor", "shared", "web-agents-api"];

/** @param {string} room */
async function testsOf(room) {
  const files = await readdir(join(root, room), { recursive: true });
  return files.filter((file) => /\.test\.(ts|mjs)$/.test(file)).map((file) => join(room, file));
}

const all = bench ? ["e2e/bench.ts"] : (await Promise.all(ROOMS.map(testsOf))).flat().sort();
const tests = all.filter((file) => picked.length === 0 || picked.some((word) => file.includes(word)));
if (tests.length === 0) throw new Error(`no test file has ${picked.join(", ")} in its name`);

// Inside the workspace, so that node finds its packages.
const out = await mkdtemp(join(root, ".test-"));
let code = 1;
try {
  await build({
    absWorkingDir: root,
    entryPoints: tests,
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
  const files = tests.map((file) => join(out, file.replace(/\.(ts|mjs)$/, ".mjs")));
  const runner = bench ? [] : ["--test", ...(e2e ? ["--test-concurrency=1"] : [])];
  const others = bench ? words.filter((word) => word !== "--bench") : [];
  code = spawnSync(process.execPath, ["--enable-source-maps", ...runner, ...files, ...others], { cwd: root, stdio: "inherit" }).status ?? 1;
} finally {
  await rm(out, { recursive: true, force: true });
}
process.exitCode = code;
