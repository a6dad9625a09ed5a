// Runs tests of the web platform tests' form from a checkout, against ours: pages made of `*.window.js`, a harness from the checkout, and
// clicks by the driver where a test asks for one.
//
// Owns the server of these pages. Nothing of that suite is here. Each file has an origin of its own, so that none uses up another's budget.

import { readFile, readdir } from "node:fs/promises";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, extname, join, normalize, posix } from "node:path";
import { type Page, until } from "./browser.ts";
import { prefer } from "./preferring.ts";
import type { World } from "./world.ts";

/** Words in the paths of tests that cannot pass: documents that are gone, garbage collection, what models of ours neither see nor say. */
const CANNOT = /iframe|detached|context-destroyed|params|-gc|multimodal|audio|video|regex|\/crash/;

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

/** The tests of LanguageModel in a checkout that ours can pass. */
export async function testsIn(checkout: string): Promise<string[]> {
  const root = join(checkout, "ai", "language-model");
  const files = (await readdir(root, { recursive: true })).map((file) => posix.join("ai/language-model", file.replaceAll("\\", "/")));
  return files.filter((file) => file.endsWith(".window.js") && !CANNOT.test(file)).sort();
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
  if (path.endsWith(".window.html")) return { type: "text/html", body: pageOf(script, await readFile(join(checkout, script), "utf8")) };
  return { type: TYPES[extname(path)] ?? "application/octet-stream", body: await readFile(join(checkout, path)) };
}

/** The page around a script, made of its META lines. */
function pageOf(path: string, script: string): string {
  const wanted = [...script.matchAll(/^\/\/ META: script=(.+)$/gm)].map(([, file]) => posix.resolve(dirname(path), file ?? ""));
  const scripts = ["/resources/testharness.js", "/resources/testharnessreport.js", ...wanted, path];
  return `<!doctype html><meta charset="utf-8"><title>${path}</title><body>${scripts.map((file) => `<script src="${file}"></script>`).join("")}`;
}

/** Runs one file in a page of its own, where ours is the LanguageModel and may be used. */
export async function runFile(world: World, checkout: string, file: string): Promise<Result> {
  const { browser, harbor } = world;
  const pages = await Pages.start(checkout);
  let page: Page | undefined;
  try {
    await harbor.cli("grant", pages.origin, "model:prompt", "--always");
    const options = await browser.open(browser.apiUrl("options.html"));
    await prefer(options, pages.origin, "always", `${pages.origin}:`);
    await options.close();
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

/** Whether all of it passed. */
export const hasPassed = ({ tests, why }: Result): boolean => why === undefined && tests.length > 0 && tests.every((test) => test.why === undefined);
