// All that a test needs, begun and ended: a Harbor, a site, a browser with both extensions.
//
// Owns the order of that. Must never leave anything running, however a test ends.

import { join } from "node:path";
import type { Browser } from "./browser.ts";
import { startChromium } from "./chromium.ts";
import { startFirefox } from "./firefox.ts";
import { Harbor } from "./harbor.ts";
import { type Answers, Site } from "./site.ts";
import { withNative } from "./with_native.ts";
import { withPages } from "./with_pages.ts";

export interface World {
  harbor: Harbor;
  site: Site;
  browser: Browser;
  /** Ends the browser and starts it again with the same profile. */
  restart(): Promise<Browser>;
}

export interface Options {
  /** config.toml */
  config?: string;
  /** Whether browsers are told of Harbor; true when absent. */
  registered?: boolean;
  /** What the site shows; its own page when absent. */
  page?: string | Answers;
  /** `web-agents-api` without `harbor`; `bare`: without either. */
  alone?: boolean | "bare";
  /** A script that plays what this browser lacks: pages run it before `web-agents-api`'s. */
  native?: string;
  /** Further switches of Chromium's command line. */
  switches?: string[];
  /** `harbor` may use pages already, as if the person had said yes to the browser. */
  mayUsePages?: boolean;
  /** Makes another extension, unpacked, and gives its directory. */
  foreign?(harbor: Harbor, site: Site): Promise<string>;
}

type Name = Browser["name"];

/** Starts a browser with both extensions, `web-agents-api` alone or neither, and others. `own`, `api`: other builds of the two. */
export function start(name: Name, harbor: Harbor, foreign: string[] = [], alone: Options["alone"] = false, own?: string, api?: string, switches: string[] = []): Promise<Browser> {
  const dist = (extension: string) => join(__ROOT__, "dist", `${extension}-${name}`);
  const pages = api ?? dist("web-agents-api");
  const built = alone === "bare" ? [] : alone ? [pages] : [own ?? dist("harbor"), pages];
  const begin = name === "chrome" ? startChromium : startFirefox;
  return begin({
    profile: profileOf(name, harbor),
    env: harbor.env,
    extensions: [...built, ...foreign],
    log: join(harbor.dir, "browser.log"),
    switches,
  });
}

const profileOf = (name: Name, harbor: Harbor) => join(harbor.dir, `profile-${name}`);

/** One more Chromium beside the first, with a profile of its own. */
export async function startAnother(harbor: Harbor): Promise<Browser> {
  const profile = join(harbor.dir, "profile-of-another");
  await register("chrome", harbor, profile);
  const extensions = ["harbor", "web-agents-api"].map((extension) => join(__ROOT__, "dist", `${extension}-chrome`));
  return startChromium({ profile, env: harbor.env, extensions, log: join(harbor.dir, "another-browser.log"), switches: [] });
}

/** Tells a browser of Harbor. */
export async function register(name: Name, harbor: Harbor, profile = profileOf(name, harbor)): Promise<void> {
  const chromium = ["--browser", "chromium", "--user-data-dir", profile];
  await harbor.cli("host", "install", ...(name === "chrome" ? chromium : ["--browser", "firefox"]));
}

async function run(name: Name, test: (world: World) => Promise<void>, options: Options): Promise<void> {
  const ends: (() => Promise<unknown>)[] = [];
  try {
    const harbor = await Harbor.make(options.config);
    ends.push(() => harbor.end());
    if (options.registered !== false) await register(name, harbor);
    const site = await Site.start(options.page);
    ends.push(() => site.end());
    const foreign = options.foreign === undefined ? [] : [await options.foreign(harbor, site)];
    const own = options.mayUsePages ? await withPages(name, join(harbor.dir, "harbor-with-pages")) : undefined;
    const api = options.native === undefined ? undefined : await withNative(name, join(harbor.dir, "api-with-native"), options.native);
    const world: World = {
      harbor,
      site,
      browser: await start(name, harbor, foreign, options.alone, own, api, options.switches),
      async restart() {
        await world.browser.close();
        world.browser = await start(name, harbor, foreign, options.alone, own, api, options.switches);
        return world.browser;
      },
    };
    ends.push(() => world.browser.close());
    await test(world);
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

/** The browsers, each with a way to run a test in it. */
export const inBrowsers = (["chrome", "firefox"] as const)
  .filter((name) => (process.env["HARBOR_TEST_BROWSER"] ?? name) === name)
  .map((name) => ({
    name,
    run: (test: (world: World) => Promise<void>, options: Options = {}) => run(name, test, options),
  }));
