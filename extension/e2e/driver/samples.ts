// The sample pages of docs/page-api.md, and what a person does on them.
//
// Owns how these pages are served and used. Must never change them: they are the files that people open.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { tick } from "./asking.ts";
import { type Page, textOf, until } from "./browser.ts";
import type { Answers } from "./site.ts";
import type { World } from "./world.ts";

/** The files of extension/demo, as any web server gives them. */
export const sample: Answers = (path) => {
  const name = /^\/([a-z]+\.(?:html|css))/.exec(path)?.[1];
  if (name === undefined) return { html: "" };
  const type = name.endsWith(".css") ? "text/css" : "text/html";
  return { html: readFileSync(join(__ROOT__, "demo", name), "utf8"), headers: { "content-type": type } };
};

/** Types into the page's field, and sends it. */
export async function send(page: Page, text: string): Promise<void> {
  await page.run(`document.querySelector("#text").value = ${JSON.stringify(text)}`);
  await page.click("#send");
}

/** The person allows what is asked; the text of the question. */
export async function allow({ browser }: World): Promise<string> {
  const consent = await browser.find("consent.html");
  await textOf(consent, "#origin");
  const said = (await consent.run("return document.body.innerText")) as string;
  await tick(consent);
  await consent.click("#always");
  return said;
}

/** Waits until the selector finds this text. */
export const shows = (page: Page, selector: string, text: string): Promise<true> =>
  until(`${text} in ${selector}`, async () => ((await page.run(`return document.querySelector(${JSON.stringify(selector)})?.textContent`)) as string)?.includes(text) || undefined);

/** Waits until the page is done with what it was sent; what it says went wrong, "" where nothing did. */
export async function done(page: Page): Promise<string> {
  await until("the page to be done", async () => (await page.run("return document.querySelector('#send').disabled ? null : true")) || undefined);
  return (await page.run("return document.querySelector('#state.bad')?.textContent ?? ''")) as string;
}
