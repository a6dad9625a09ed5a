// Whether a page is fit for everybody: axe-core, and the width.
//
// Owns what counts as serious. Must never change the page that it looks at.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "./browser.ts";

interface Violation {
  id: string;
  impact: string;
  nodes: { html: string }[];
}

/** What axe-core finds serious, or worse. */
export async function serious(page: Page): Promise<string[]> {
  const axe = await readFile(join(__ROOT__, "node_modules", "axe-core", "axe.min.js"), "utf8");
  const found = (await page.run(`
    // As a script of a page that knows no modules.
    const module = undefined, define = undefined;
    if (window.axe === undefined) { ${axe}; }
    const { violations } = await window.axe.run(document, { resultTypes: ["violations"] });
    return violations.map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.map(({ html }) => ({ html })) }));`)) as Violation[];
  return found.filter(({ impact }) => impact === "serious" || impact === "critical").map((one) => JSON.stringify(one));
}

/** For `run`: whether nothing is wider than the page. */
export const FITS =
  'return [document.documentElement, document.querySelector("#view")].every((one) => one === null || one.scrollWidth <= one.clientWidth)';
