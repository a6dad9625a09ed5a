// The extension `harbor` as it is once the person has let it use pages.
//
// Owns that build: the browser asks by a window of its own, which nothing but a person can click. Must never change the build that
// people load.

import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "./browser.ts";

/** Makes it in a new directory, which it gives back. */
export async function withPages(name: Browser["name"], place: string): Promise<string> {
  await cp(join(__ROOT__, "dist", `harbor-${name}`), place, { recursive: true });
  const file = join(place, "manifest.json");
  const { optional_permissions, optional_host_permissions, ...made } = JSON.parse(await readFile(file, "utf8"));
  // Firefox gives this one only where it is asked for.
  const [asked, given] = name === "firefox" ? [["userScripts"], optional_permissions.filter((one: string) => one !== "userScripts")] : [[], optional_permissions];
  const granted = { permissions: [...made.permissions, ...given], host_permissions: optional_host_permissions, ...(asked.length === 0 ? {} : { optional_permissions: asked }) };
  await writeFile(file, JSON.stringify({ ...made, ...granted }));
  return place;
}
