// The demo page in Chromium, with both extensions: opened for a person, or driven to a screenshot.
//
//   node build/run.mjs e2e/demo/open.ts person|driver PROFILE SCREENSHOT
//
// Owns the site and the browser until it ends. Progress goes to stderr; one line says on stdout how it was. Must never
// touch a profile but PROFILE, nor answer for a person who is there.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page } from "../driver/browser.ts";
import { startChromium } from "../driver/chromium.ts";
import { Site } from "../driver/site.ts";
import { type Outcome, allow, useAll, wish } from "./drive.ts";

const [by, profile = "", screenshot = ""] = process.argv.slice(2);
if ((by !== "person" && by !== "driver") || screenshot === "") throw new Error("usage: open.ts person|driver PROFILE SCREENSHOT");

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
  return `a page asked, was allowed for a while, told the time, and did ${outcomes.length} things with tools of three servers; screenshot ${screenshot}`;
}

async function forPerson(browser: Browser): Promise<string> {
  say("Chromium is open: press the button on the page, answer in the window that comes, close the browser when you have seen enough");
  await browser.ended;
  return "the browser was closed";
}

async function main(): Promise<string> {
  const site = await Site.start(await readFile(join(__ROOT__, "demo", "index.html"), "utf8"));
  const extensions = ["harbor", "web-agents-api"].map((name) => join(__ROOT__, "dist", `${name}-chrome`));
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
