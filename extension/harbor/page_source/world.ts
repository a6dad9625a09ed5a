// The part of a page source that is in the page's own world: `in_page.ts`, under a symbol.
//
// Owns that place. Must never be put anywhere but in the top document of a tab.

import { WORLD } from "./forms.ts";
import { InPage } from "./in_page.ts";

const place = Symbol.for(WORLD);
if (!(place in window)) {
  const inPage = new InPage(window);
  Object.defineProperty(window, place, { value: inPage.act.bind(inPage), enumerable: false });
}
