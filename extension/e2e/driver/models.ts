// A page that may ask a model which says back what it is told.
//
// Owns what the page has besides: short names for what tests say again and again.

import type { Page } from "./browser.ts";
import { Echo } from "./echo.ts";
import { PAGE, Site } from "./site.ts";
import type { World } from "./world.ts";

/** `settled(promise)` says what became of it, errors by their names; `LM` is ours, whatever the browser has; `read` reads a stream to its end. */
const HELP = `
  window.LM = harbor.LanguageModel;
  window.settled = (promise) => Promise.resolve(promise).then(
    (value) => ({ value }),
    (error) => ({ name: error.name, message: error.message, code: error.code, requested: error.requested, quota: error.quota }));
  window.tried = (work) => settled(new Promise((resolve) => resolve(work())));
  window.read = async (stream, each = () => {}) => {
    const found = [];
    for await (const piece of stream) { found.push(piece); await each(piece, found.length); }
    return found;
  };
  window.aborting = (reason) => { const controller = new AbortController(); controller.abort(reason); return controller.signal; };
`;

/** What became of a promise of the page. */
export interface Became {
  value?: any;
  name?: string;
  message?: string;
  code?: string;
  requested?: number;
  quota?: number;
}

/** Runs an expression of the page's; what becomes of it. */
export const became = (page: Page, source: string): Promise<Became> => page.run(`return tried(async () => { ${source} })`) as Promise<Became>;

/** A page of `origin`, which may ask the model unless `granted` is false. */
export async function modelPage({ browser, harbor }: World, origin: string, granted = true): Promise<Page> {
  if (granted) await harbor.cli("grant", origin, "model:prompt", "--always");
  const page = await browser.open(`${origin}/`);
  await page.run(HELP);
  return page;
}

/** Does `work` with a model that says back what it is told, and gives it sites of their own as they are asked for. */
export async function withEcho(world: World, work: (echo: Echo, origin: () => Promise<string>) => Promise<void>): Promise<void> {
  const echo = await Echo.start(world.harbor);
  const sites: Site[] = [];
  const origin = async () => {
    const site = await Site.start(PAGE);
    sites.push(site);
    return site.origin;
  };
  try {
    await work(echo, origin);
  } finally {
    for (const site of sites) await site.end();
    await echo.end();
  }
}
