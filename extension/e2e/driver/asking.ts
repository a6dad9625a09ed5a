// A page asks, and the person allows it: what most tests begin with.
//
// Owns nothing. It does what a person does, by clicks. Tests of the question itself do that on their own.

import assert from "node:assert/strict";
import { type Browser, type Page, textOf } from "./browser.ts";

/** Asks by a click on the page's button, and allows what is asked. */
export async function askAndAllow(browser: Browser, page: Page, how: "once" | "always" = "once"): Promise<void> {
  await page.click("#ask");
  const consent = await browser.find("consent.html");
  await textOf(consent, "#origin");
  await consent.click(`#${how}`);
  const asked = (await page.run("return window.asked")) as { value?: { granted: boolean }; message?: string };
  assert.equal(asked.value?.granted, true, asked.message);
}
