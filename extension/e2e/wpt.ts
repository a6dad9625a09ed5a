// Runs the web platform tests of LanguageModel that ours can pass, from a checkout: `scripts/wpt DIR`.
//
// Owns what is printed and the exit code: 1 where a test failed.

import { Harbor } from "./driver/harbor.ts";
import { withEcho } from "./driver/models.ts";
import { Site } from "./driver/site.ts";
import { register, start } from "./driver/world.ts";
import { type Result, hasPassed, runFile, testsIn } from "./driver/wpt.ts";

const [checkout, ...words] = process.argv.slice(2);
if (checkout === undefined) throw new Error("usage: scripts/wpt DIR [WORD…]    DIR is a checkout of the web platform tests");

async function all(name: "chrome" | "firefox", dir: string): Promise<Result[]> {
  const files = (await testsIn(dir)).filter((file) => words.length === 0 || words.some((word) => file.includes(word)));
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
        console.log(`${name}: ${hasPassed(result) ? "ok" : "FAILED"} ${file}${result.why === undefined ? "" : `: ${result.why}`}`);
        for (const { name: test, why } of result.tests) if (why !== undefined) console.log(`    ${test}: ${why}`);
      }
    });
  } finally {
    await browser.close();
    await site.end();
    await harbor.end();
  }
  return results;
}

let failed = 0;
for (const name of ["chrome", "firefox"] as const) {
  if ((process.env["HARBOR_TEST_BROWSER"] ?? name) !== name) continue;
  const results = await all(name, checkout);
  if (results.length === 0) throw new Error(`${checkout} has no such tests in ai/language-model`);
  failed += results.filter((result) => !hasPassed(result)).length;
}
process.exitCode = failed > 0 ? 1 : 0;
