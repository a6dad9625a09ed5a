// The demo page, driven as a person does: asks, allows once, does all that the page can.
//
// Owns which elements that takes. Must never call the page's functions: only what is clicked shows that clicks work.

import { tick } from "../driver/asking.ts";
import { type Browser, type Page, textOf, until } from "../driver/browser.ts";

/** One thing that the page did. */
export interface Outcome {
  title: string;
  good: boolean;
  /** The answer, or the error. */
  text: string;
}

/** Lets the page ask, and allows it once. `origin`: who must be asking. */
export async function allow(browser: Browser, page: Page, origin: string): Promise<void> {
  await page.run("document.querySelector('#more').open = true");
  await page.click("#ask");
  const consent = await browser.find("consent.html");
  const asking = await textOf(consent, "#origin");
  if (asking !== origin) throw new Error(`the consent window shows ${asking} for ${origin}`);
  await tick(consent);
  await consent.click("#once");
}

/** Has the page tell the time where a colleague is, with what it was allowed. */
export async function wish(page: Page): Promise<string> {
  await page.click("#wish");
  return until("the time", async () => ((await page.run("return document.querySelector('#answer').textContent")) as string) || undefined);
}

/** Does all that the page can, and says what became of it. */
export async function useAll(page: Page): Promise<Outcome[]> {
  await page.click("#all");
  return until("the page to be done", async () => ((await page.run("return window.outcomes")) as Outcome[] | undefined) ?? undefined);
}
