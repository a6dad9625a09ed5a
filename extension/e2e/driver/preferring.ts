// Saying in the options whose `LanguageModel` a site has.
//
// Owns how a test says it. The form is sent without the mouse: what comes above it as the page fills moves its button away.

import { type Page, until } from "./browser.ts";

/** Says it in `options`, the open page of options, and waits until the list shows it as `shown`. */
export async function prefer(options: Page, origin: string, preference: string, shown: string): Promise<void> {
  await options.run(`document.querySelector("#prefer-origin").value = ${JSON.stringify(origin)};
    document.querySelector("#prefer-what").value = ${JSON.stringify(preference)};
    document.querySelector("#prefer").requestSubmit()`);
  await until(shown, async () => ((await options.run("return document.querySelector('#preferences').textContent")) as string).includes(shown) || undefined);
}
