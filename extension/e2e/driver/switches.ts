// The switches of the page API, in the options of `web-agents-api`.
//
// Owns how a test turns one, which is by a click as a person does.

import { type Browser, until } from "./browser.ts";

/** The person switches parts of the page API on. */
export async function switchOn(browser: Browser, ...flags: string[]): Promise<void> {
  const options = await browser.open(browser.apiUrl("options.html"));
  for (const flag of flags) {
    await until(flag, async () => (await options.run(`return document.querySelector("#${flag}")?.disabled === false`)) || undefined);
    await options.click(`#${flag}`);
    await until(`${flag} on`, async () => (await options.run(`return (await chrome.storage.local.get("flags")).flags?.${flag} === true`)) || undefined);
  }
  await options.close();
}
