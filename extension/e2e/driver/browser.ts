// A browser as tests see it: the same for Chromium and Firefox.
//
// Owns the names of what a test can do. Must never wait by time: everything here waits for something that happens, with a limit.

/** How long anything may take. Machines are slow when several tests build beside each other. */
export const LIMIT_MS = 60_000;

/** A page, a consent window or another page of an extension. */
export interface Page {
  /** Runs `source`, the body of an async function, in the page; its result as JSON. Throws what it throws. */
  run(source: string): Promise<unknown>;
  /** Clicks, as a person does, in the middle of what the selector finds, once it is to be seen and enabled. */
  click(selector: string): Promise<void>;
  /** Clicks twice, as fast as the browser takes it, where the selector finds something, whether that is enabled or not. */
  doubleClick(selector: string): Promise<void>;
  /** Takes the focus away from its window, and gives it back. */
  leaveAndReturn(): Promise<void>;
  /** Presses and releases the mouse at this place of the window, whatever is there. */
  clickAt(x: number, y: number): Promise<void>;
  /** Presses one key. */
  press(key: "Escape" | "Enter" | "Tab"): Promise<void>;
  goto(url: string): Promise<void>;
  /** The whole page as a PNG, also what is scrolled away. */
  screenshot(): Promise<Buffer>;
  close(): Promise<void>;
}

export interface Browser {
  readonly name: "chrome" | "firefox";
  /** A new tab. */
  open(url: string): Promise<Page>;
  /** A new tab in a container. Firefox only. */
  openInContainer?(url: string, container: number): Promise<Page>;
  /** The page whose address has this in it, once there is one. */
  find(part: string): Promise<Page>;
  /** How many pages have this in their address now. */
  count(part: string): Promise<number>;
  /** The address of a file of the extension `harbor`. */
  harborUrl(file: string): string;
  /** The address of a file of the extension `web-agents-api`. */
  apiUrl(file: string): string;
  /** Ends the backgrounds of all extensions, as the browser does when they are idle. `page`: any one that is open. */
  endBackgrounds(page: Page): Promise<void>;
  /** Does to an extension what a person does on the browser's page of extensions; when it returns the browser has done it. */
  manage(what: Managed, which?: "harbor" | "web-agents-api"): Promise<void>;
  /** Settles when it has ended, by whomever. */
  readonly ended: Promise<void>;
  /** Ends it, as a person does. */
  close(): Promise<void>;
}

/** `scripts`: Chromium's switch that lets it run scripts in pages. */
export type Managed = "disable" | "enable" | "reload" | "remove" | "scripts";

/** What a browser is started with. */
export interface Start {
  /** Its profile, which may be used again. */
  profile: string;
  env: NodeJS.ProcessEnv;
  /** Directories of unpacked extensions. */
  extensions: string[];
  /** Where its stderr goes. */
  log: string;
  /** Further switches of the command line. Chromium only. */
  switches?: string[];
  /** Shows itself on this machine's display. Chromium only. */
  shown?: boolean;
}

/** Asks again and again, a little apart, until the answer is not `undefined`. */
export async function until<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
  const end = Date.now() + LIMIT_MS;
  for (;;) {
    const found = await ask();
    if (found !== undefined) return found;
    if (Date.now() > end) throw new Error(`waited ${LIMIT_MS} ms for ${what}`);
    await new Promise((next) => setTimeout(next, 25));
  }
}

/** What a selector finds, once it is to be seen and can be clicked, or `anyway`: its middle. For `run`. */
export const middleOf = (selector: string, anyway = false): string => `
  const found = document.querySelector(${JSON.stringify(selector)});
  if (!found?.checkVisibility() || (found.disabled && !${anyway})) return null;
  found.scrollIntoView({ block: "center" });
  const { x, y, width, height } = found.getBoundingClientRect();
  return { x: x + width / 2, y: y + height / 2 };
`;

/** The text of what a selector finds, once there is some. */
export function textOf(page: Page, selector: string): Promise<string> {
  const source = `return document.querySelector(${JSON.stringify(selector)})?.textContent ?? ""`;
  return until(`text in ${selector}`, async () => ((await page.run(source)) as string) || undefined);
}

/** Ends all backgrounds, and waits until the page has noticed: what it asks in that very moment may fail. */
export async function endNoticed(browser: Browser, page: Page): Promise<void> {
  await browser.endBackgrounds(page);
  const source = "return Promise.race([shown(agent.permissions.list()), new Promise((resolve) => setTimeout(resolve, 1000, {}))])";
  await until("another background", async () => ((await page.run(source)) as { value?: unknown }).value);
}
