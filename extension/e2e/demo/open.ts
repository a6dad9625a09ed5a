// The demo page in Chromium, with both extensions: opened for a person, or driven to a screenshot, with an AI client beside it.
//
//   node build/run.mjs e2e/demo/open.ts person|driver PROFILE SCREENSHOT HARBOR
//
// Owns the site and the browser until it ends. Progress goes to stderr; one line says on stdout how it was. Must never
// touch a profile but PROFILE, nor answer for a person who is there.

import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Browser, Page } from "../driver/browser.ts";
import { startChromium } from "../driver/chromium.ts";
import { Site } from "../driver/site.ts";
import { withPages } from "../driver/with_pages.ts";
import { type Installed, visit } from "./client.ts";
import { type Outcome, allow, useAll, wish } from "./drive.ts";

const [by, profile = "", screenshot = "", program = ""] = process.argv.slice(2);
if ((by !== "person" && by !== "driver") || program === "") throw new Error("usage: open.ts person|driver PROFILE SCREENSHOT HARBOR");

const installed: Installed = {
  program,
  home: process.env["HARBOR_HOME"] ?? "",
  env: process.env,
  cli: async (...args) => (await promisify(execFile)(program, args)).stdout,
};

/** Else it would keep crash reports and caches beside the profile of the person's own Chromium, whatever its profile. */
const env = { ...process.env, CHROME_CONFIG_HOME: join(profile, "config"), XDG_CACHE_HOME: join(profile, "cache") };

const say = (text: string): void => void process.stderr.write(`${text}\n`);

async function driven(browser: Browser, page: Page, site: Site): Promise<string> {
  say("the page asks; the consent window is answered with “Allow for 10 minutes”");
  await allow(browser, page, site.origin);
  say(`ok  What time is it there: ${await wish(page)}`);
  const outcomes = await useAll(page);
  for (const { good, title, text } of outcomes) say(`${good ? "ok" : "FAILED"}  ${title}: ${text.split("\n")[0]}`);
  await writeFile(screenshot, await page.screenshot());
  const bad = outcomes.filter(({ good }: Outcome) => !good);
  if (bad.length > 0) throw new Error(`${bad.length} of ${outcomes.length} failed: ${bad.map(({ title }) => title).join(", ")}`);
  say("an AI client opens another page in a tab of its own, fills the form there and reads the answer");
  say(`ok  ${await visit(browser, page, `${site.origin}/booking.html`, installed)}; the tab from before is as it was`);
  return `a page asked, was allowed for a while, told the time, and did ${outcomes.length} things with tools of three servers; an AI client filled a form in a tab of its own; screenshot ${screenshot}`;
}

async function forPerson(browser: Browser): Promise<string> {
  say("Chromium is open: press the button on the page, answer in the window that comes, close the browser when you have seen enough");
  say("To let an AI client use it, too: Harbor's panel, Sites, “Browser tools…”, switch it on; then in another terminal:");
  say(`  export HARBOR_HOME='${installed.home}'`);
  say("  harbor call browser/browser_navigate '{\"url\":\"https://example.org\"}'      by your own hand");
  say("  harbor tools --client NAME --on 'browser/*'                              for the AI client NAME, at: harbor mcp --client NAME");
  await browser.ended;
  return "the browser was closed";
}

async function main(): Promise<string> {
  const [index = "", booking = ""] = await Promise.all(["index.html", "booking.html"].map((file) => readFile(join(__ROOT__, "demo", file), "utf8")));
  const site = await Site.start((path) => ({ html: path === "/booking.html" ? booking : index }));
  const dist = (name: string) => join(__ROOT__, "dist", `${name}-chrome`);
  // A person who is there is asked by the browser.
  const harbor = by === "person" ? dist("harbor") : await withPages("chrome", `${profile}-harbor`);
  const extensions = [harbor, dist("web-agents-api")];
  const log = `${profile}.log`;
  const shown = Boolean(process.env["DISPLAY"] || process.env["WAYLAND_DISPLAY"]);
  const browser = await startChromium({ profile, env, extensions, log, shown });
  // Else a browser without its driver would stay.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => void browser.close());
  try {
    const page = await browser.open(site.url);
    return await (by === "person" ? forPerson(browser) : driven(browser, page, site));
  } catch (error) {
    throw new Error(`${(error as Error).message} (what Chromium says is in ${log})`);
  } finally {
    await browser.close();
    await site.end();
  }
}

try {
  console.log(`ok: ${await main()}`);
} catch (error) {
  console.log(`failed: ${(error as Error).message}`);
  process.exitCode = 1;
}
