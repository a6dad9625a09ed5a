// Runs one TypeScript program of this workspace: `node build/run.mjs FILE ARGS…`.
//
// Must never change what the program says: its output, its signals and its exit code are its own.

import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { bundle, root } from "./bundle.mjs";

const [file] = process.argv.splice(2, 1);
if (file === undefined) throw new Error("usage: node build/run.mjs FILE ARGS…");
// Inside the workspace, so that node finds its packages.
const out = await mkdtemp(join(root, ".test-"));
process.on("exit", () => rmSync(out, { recursive: true, force: true }));
const [program] = await bundle([file], out);
await import(/** @type {string} */ (program));
