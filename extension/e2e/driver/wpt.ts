// Runs tests of the web platform tests' form from a checkout, against ours: pages of it, or made of `*.window.js`, a harness from the checkout,
// and clicks by the driver where a test asks for one.
//
// Owns the server of these pages, and how results are held against what is expected (wpt_expected.json). Nothing of that suite is here. Each
// file has an origin of its own, so that none uses up another's budget.

import { readFile, readdir, writeFile } from "node:fs/promises";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, extname, join, normalize, posix } from "node:path";
import { type Page, until } from "./browser.ts";
import { prefer } from "./preferring.ts";
import type { World } from "./world.ts";

/** Directories of a checkout: `LanguageModel`, and `document.modelContext`. */
export const SUITES = ["ai/language-model", "webmcp"];

/** Files that are tests, and directories that hold parts of tests. */
const TESTS = /\.(window\.js|any\.js|html)$/;
const PARTS = /\/(resources|support)\//;

/** What is expected of a checkout. */
export interface Expected {
  /** Patterns of paths that are not run, each with why it cannot pass. */
  leftOut: { [pattern: string]: string };
  /** By file, names of tests that fail; `*`: the file as a whole comes to nothing. */
  fails: { [file: string]: string[] };
}

const EXPECTED = join(__ROOT__, "e2e", "wpt_expected.json");
export const expected = async (): Promise<Expected> => JSON.parse(await readFile(EXPECTED, "utf8")) as Expected;

/** Writes down which tests failed, in the place of what was expected of these files. */
export async function record(known: Expected, results: Result[]): Promise<void> {
  const names = ({ tests, why }: Result) => [...(why === undefined ? [] : ["*"]), ...tests.flatMap((test) => (test.why === undefined ? [] : [test.name]))];
  const found = new Map([...Object.entries(known.fails), ...results.map((result): [string, string[]] => [result.file, names(result)])]);
  const fails = Object.fromEntries([...found].filter(([, failed]) => failed.length > 0).sort());
  await writeFile(EXPECTED, `${JSON.stringify({ ...known, fails }, null, 2)}\n`);
}

const TYPES: { [extension: string]: string } = { ".js": "text/javascript", ".html": "text/html", ".json": "application/json", ".svg": "image/svg+xml" };

/** In place of the checkout's reporter and vendor parts: results stay in the page, and clicks are left to the driver. */
const REPORT = `add_completion_callback((tests, status) => {
  window.wptResults = { status: status.status, message: status.message, tests: tests.map(({ name, status, message }) => ({ name, status, message })) };
});`;
const VENDOR = `window.wptClicks = [];
Object.assign(window.test_driver_internal, {
  in_automation: true,
  click: (element) => new Promise((resolve) => {
    element.addEventListener("click", () => resolve(), { once: true });
    const { x, y, width, height } = element.getBoundingClientRect();
    window.wptClicks.push({ x: x + width / 2, y: y + height / 2 });
  }),
});`;

export interface Result {
  file: string;
  /** Each with its name and, where it failed, why. An optional one that could not be tried counts as passed. */
  tests: { name: string; why?: string }[];
  /** Why the file as a whole came to nothing. */
  why?: string;
}

/** The tests of a checkout that ours can pass. */
export async function testsIn(checkout: string, { leftOut }: Expected): Promise<string[]> {
  const cannot = Object.keys(leftOut).map((pattern) => new RegExp(pattern));
  const all = await Promise.all(SUITES.map((suite) => filesIn(checkout, suite)));
  return all.flat().filter((file) => TESTS.test(file) && !PARTS.test(file) && !cannot.some((pattern) => pattern.test(file))).sort();
}

/** None where the checkout has no such directory. */
async function filesIn(checkout: string, suite: string): Promise<string[]> {
  const files = await readdir(join(checkout, suite), { recursive: true }).catch(() => []);
  return files.map((file) => posix.join(suite, file.replaceAll("\\", "/")));
}

class Pages {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(checkout: string): Promise<Pages> {
    const server = createServer((request, response) => {
      const path = normalize(decodeURIComponent((request.url ?? "/").split("?")[0] ?? "/"));
      void answer(checkout, path).then(
        ({ type, body }) => response.writeHead(200, { "content-type": type }).end(body),
        () => response.writeHead(404).end(),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new Pages(server);
  }

  get origin(): string {
    return `http://localhost:${(this.#server.address() as AddressInfo).port}`;
  }

  async end(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

async function answer(checkout: string, path: string): Promise<{ type: string; body: string | Buffer }> {
  if (path === "/resources/testharnessreport.js") return { type: "text/javascript", body: REPORT };
  if (path === "/resources/testdriver-vendor.js") return { type: "text/javascript", body: VENDOR };
  const script = path.replace(/\.html$/, ".js");
  if (/\.(window|any)\.html$/.test(path)) return { type: "text/html", body: pageOf(script, await readFile(join(checkout, script), "utf8")) };
  return { type: TYPES[extname(path)] ?? "application/octet-stream", body: await readFile(join(checkout, path)) };
}

/** The page around a script, made of its META lines. */
function pageOf(path: string, script: string): string {
  const wanted = [...script.matchAll(/^\/\/ META: script=(.+)$/gm)].map(([, file]) => posix.resolve(dirname(path), file ?? ""));
  const scripts = ["/resources/testharness.js", "/resources/testharnessreport.js", ...wanted, path];
  return `<!doctype html><meta charset="utf-8"><title>${path}</title><body>${scripts.map((file) => `<script src="${file}"></script>`).join("")}`;
}

/** Runs one file in a page of its own, where ours is the LanguageModel and may be used; tools of a page need nobody's yes. */
export async function runFile(world: World, checkout: string, file: string): Promise<Result> {
  const { browser, harbor } = world;
  const pages = await Pages.start(checkout);
  let page: Page | undefined;
  try {
    if (file.startsWith("ai/")) {
      await harbor.cli("grant", pages.origin, "model:prompt", "--always");
      const options = await browser.open(browser.apiUrl("options.html"));
      await prefer(options, pages.origin, "always", `${pages.origin}:`);
      await options.close();
    }
    page = await browser.open(`${pages.origin}/${file.replace(/\.js$/, ".html")}`);
    return { file, ...(await resultsOf(page)) };
  } catch (error) {
    return { file, tests: [], why: String(error) };
  } finally {
    await page?.close();
    await pages.end();
  }
}

async function resultsOf(page: Page): Promise<Pick<Result, "tests" | "why">> {
  const found = await until("the end of the tests", async () => {
    const { results, click } = (await page.run("return { results: window.wptResults ?? null, click: window.wptClicks?.shift() ?? null }")) as any;
    if (click !== null) await page.clickAt(click.x, click.y);
    return results ?? undefined;
  });
  // 0: passed; 4: what it needs is not here.
  const tests = found.tests.map(({ name, status, message }: any) => (status === 0 || status === 4 ? { name } : { name, why: message ?? `status ${status}` }));
  return found.status === 0 ? { tests } : { tests, why: found.message ?? `status ${found.status}` };
}

/** What of a result is not as expected, a line each. */
export function surprises({ file, tests, why }: Result, { fails }: Expected): string[] {
  const known = fails[file] ?? [];
  const whole = why ?? (tests.length === 0 ? "it has no tests" : undefined);
  const isKnown = known.includes("*");
  if (whole !== undefined) return isKnown ? [] : [whole];
  const said = ({ name, why: failed }: Result["tests"][number]) => {
    if (failed !== undefined) return known.includes(name) ? [] : [`${name}: ${failed}`];
    return known.includes(name) ? [`${name}: passes, and was expected to fail`] : [];
  };
  return [...(isKnown ? ["the file runs to its end, and was expected not to"] : []), ...tests.flatMap(said)];
}
