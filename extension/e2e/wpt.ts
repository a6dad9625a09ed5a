// Runs the web platform tests of LanguageModel and of document.modelContext that ours can pass, from a checkout: `scripts/wpt DIR`.
//
// Owns what is printed and the exit code: 1 where something is not as wpt_expected.json says. With --record it writes that down instead.

import { Harbor } from "./driver/harbor.ts";
import { withEcho } from "./driver/models.ts";
import { Site } from "./driver/site.ts";
import { register, start } from "./driver/world.ts";
import { type Expected, type Result, SUITES, expected, record, runFile, surprises, testsIn } from "./driver/wpt.ts";

const given = process.argv.slice(2);
const isRecorded = given.includes("--record");
const [checkout, ...words] = given.filter((one) => one !== "--record");
if (checkout === undefined) throw new Error("usage: scripts/wpt DIR [--record] [WORD…]    DIR is a checkout of the web platform tests");

async function all(name: "chrome" | "firefox", dir: string, known: Expected): Promise<Result[]> {
  const files = (await testsIn(dir, known)).filter((file) => words.length === 0 || words.some((word) => file.includes(word)));
  const harbor = await Harbor.make();
  await register(name, harbor);
  const site = await Site.start();
  const browser = await start(name, harbor);
  const world = { harbor, site, browser, restart: async () => browser };
  const results: Result[] = [];
  try {
    await withEcho(world, async () => {
      for (const file of files) {
        const result = await runFile(world, dir, file);
        results.push(result);
        const lines = surprises(result, known);
        console.log(`${name}: ${lines.length === 0 ? "as expected" : "NOT AS EXPECTED"} ${file}`);
        for (const line of lines) console.log(`    ${line}`);
      }
    });
  } finally {
    await browser.close();
    await site.end();
    await harbor.end();
  }
  return results;
}

const known = await expected();
const found: Result[] = [];
for (const name of ["chrome", "firefox"] as const) {
  if ((process.env["HARBOR_TEST_BROWSER"] ?? name) !== name) continue;
  const results = await all(name, checkout, known);
  if (results.length === 0) throw new Error(`${checkout} has no such tests in ${SUITES.join(" or ")}`);
  found.push(...results);
}
if (isRecorded) await record(known, found);
else process.exitCode = found.some((result) => surprises(result, known).length > 0) ? 1 : 0;
