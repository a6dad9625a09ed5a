// The native hosts of a Harbor that run now.
//
// Owns how one is told from other programs. Must never end one.

import { readFile, readdir } from "node:fs/promises";
import type { Harbor } from "./harbor.ts";

/** Their process ids. A browser starts each with the place of its manifest, or the id of an extension. */
export async function hostsOf({ dir }: Harbor): Promise<string[]> {
  const all = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const isHost = async (pid: string) => {
    const read = (file: string) => readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "");
    return /harbor-bridge\0(chrome-extension:|[^\0]*\.json\0)/.test(await read("cmdline")) && (await read("environ")).includes(dir);
  };
  const are = await Promise.all(all.map(isHost));
  return all.filter((_, at) => are[at]);
}
