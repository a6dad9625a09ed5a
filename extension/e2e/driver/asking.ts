// A page asks, and the person allows it: what most tests begin with.
//
// Owns nothing. It does what a person does, by clicks. Tests of the question itself do that on their own.

import assert from "node:assert/strict";
import { type Browser, type Page, textOf } from "./browser.ts";

/** Leaves exactly these tools ticked in a question, or all: what does not only read is not ticked in advance. */
export async function tick(consent: Page, tools?: string[]): Promise<void> {
  await textOf(consent, "#origin");
  await consent.run(`
    const tools = ${JSON.stringify(tools ?? null)};
    for (const box of document.querySelectorAll("input[data-tool]:enabled")) {
      if (tools !== null && box.dataset.tool.endsWith("/*")) continue;
      if (box.checked !== (tools === null || tools.includes(box.dataset.tool))) box.click();
    }`);
}

/** Asks by a click on the page's button, and allows all of what is asked. */
export async function askAndAllow(browser: Browser, page: Page, how: "once" | "always" = "once"): Promise<void> {
  await page.click("#ask");
  const consent = await browser.find("consent.html");
  await tick(consent);
  await consent.click(`#${how}`);
  const asked = (await page.run("return window.asked")) as { value?: { granted: boolean }; message?: string };
  assert.equal(asked.value?.granted, true, asked.message);
}
