// The extension `web-agents-api` in a browser that has more of its own than those of these tests: a script plays it.
//
// Owns that build: the script runs in each page before the injected one, as what a browser has is there before it. Must never change the build
// that people load.

import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "./browser.ts";

/** Makes it in a new directory, which it gives back. */
export async function withNative(name: Browser["name"], place: string, script: string): Promise<string> {
  await cp(join(__ROOT__, "dist", `web-agents-api-${name}`), place, { recursive: true });
  const file = join(place, "manifest.json");
  const made = JSON.parse(await readFile(file, "utf8"));
  const scripts = made.content_scripts.map((one: { world: string; js: string[] }) => (one.world === "MAIN" ? { ...one, js: ["native.js", ...one.js] } : one));
  await writeFile(join(place, "native.js"), script);
  await writeFile(file, JSON.stringify({ ...made, content_scripts: scripts }));
  return place;
}
