// The sidebar as tests use it: places, typing, waiting for words.
//
// Owns nothing. It does what a person does, by elements of the page.

import { type Browser, type Page, textOf, until } from "./browser.ts";

export class Sidebar {
  readonly page: Page;

  private constructor(page: Page) {
    this.page = page;
  }

  static async open(browser: Browser, place = "servers"): Promise<Sidebar> {
    return new Sidebar(await browser.open(browser.harborUrl(`sidebar.html#${place}`)));
  }

  async go(place: string): Promise<void> {
    await this.page.run(`location.hash = ${JSON.stringify(place)}`);
  }

  /** Clicks, once that does something: what has just come may be busy for a moment that no person notices. */
  click(selector: string): Promise<void> {
    return this.page.click(`${selector}:not([aria-disabled="true"])`);
  }

  /** Clicks as a script of the panel does, once that does something: what is still filled in may move away from under a pointer. */
  async press(selector: string): Promise<void> {
    const enabled = `${selector}:not([aria-disabled="true"]):not([disabled])`;
    const source = `const found = document.querySelector(${JSON.stringify(enabled)}); found?.click(); return found !== null`;
    await until(enabled, async () => ((await this.page.run(source)) as boolean) || undefined);
  }

  /** Types into a control, once it is there. */
  async type(selector: string, text: string): Promise<void> {
    await until(selector, async () => {
      const source = `
        const found = document.querySelector(${JSON.stringify(selector)});
        if (found === null) return false;
        found.focus();
        found.value = ${JSON.stringify(text)};
        found.dispatchEvent(new Event("input", { bubbles: true }));
        return true`;
      return ((await this.page.run(source)) as boolean) || undefined;
    });
  }

  /** Waits until what the selector finds says this. */
  async says(selector: string, words: RegExp): Promise<string> {
    let last = "";
    try {
      return await until(`${words} in ${selector}`, async () => {
        last = (await this.page.run(`return document.querySelector(${JSON.stringify(selector)})?.textContent ?? ""`)) as string;
        return words.test(last) ? last : undefined;
      });
    } catch (error) {
      throw new Error(`${String(error)}; it says: ${last}; the page: ${await this.page.run("return document.querySelector('#view').innerText.slice(0, 2000)")}`);
    }
  }

  /** Waits until the selector finds nothing. */
  async gone(selector: string): Promise<void> {
    await until(`${selector} to go`, async () => ((await this.count(selector)) === 0 ? true : undefined));
  }

  async count(selector: string): Promise<number> {
    return (await this.page.run(`return document.querySelectorAll(${JSON.stringify(selector)}).length`)) as number;
  }

  text(selector: string): Promise<string> {
    return textOf(this.page, selector);
  }
}
