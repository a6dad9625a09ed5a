// `agent.browser`: what Harbor does for a page in the page's own tab, and in tabs that it has opened.
//
// Owns how a page says it. Must never look at an argument: what it may be is said where it is read.

import { freeze } from "./builtins.ts";
import { type Options, ask } from "./channel.ts";
import { rejected } from "./errors.ts";

type Given = { [name: string]: unknown } | null | undefined;

/** Asks for an act. A getter of the page's that throws has the call fail, and not the script around it. */
function act(name: string, fields: () => object, options?: Given): Promise<unknown> {
  try {
    return ask("browser", { __proto__: null, act: name, ...fields() }, { signal: options?.["signal"] as Options["signal"] });
  } catch (error) {
    return rejected(error);
  }
}

/** What is done alike in the page's own tab, and in another one that is named first. */
const wait = (o: Given) => ({ timeout: o?.["timeout"] });
const button = (o: Given) => ({ button: o?.["button"], doubleClick: o?.["doubleClick"] });
const distance = (o: Given) => ({ selector: o?.["selector"], x: o?.["x"], y: o?.["y"], to: o?.["to"] });

/** One that is not said is none, and never the page's own tab. */
const tab = (id: unknown) => ({ tabId: id === undefined ? null : id });

/** What pages find as `agent.browser`. */
export const browser = freeze({
  activeTab: freeze({
    readability: freeze((o?: Given) => act("readability", () => ({}), o)),
    getElement: freeze((selector: unknown, o?: Given) => act("getElement", () => ({ selector }), o)),
    waitForSelector: freeze((selector: unknown, o?: Given) => act("waitForSelector", () => ({ selector, ...wait(o) }), o)),
    click: freeze((selector: unknown, o?: Given) => act("click", () => ({ selector, ...button(o) }), o)),
    fill: freeze((selector: unknown, value: unknown, o?: Given) => act("fill", () => ({ selector, value }), o)),
    select: freeze((selector: unknown, values: unknown, o?: Given) => act("select", () => ({ selector, values }), o)),
    scroll: freeze((o?: Given) => act("scroll", () => distance(o), o)),
    screenshot: freeze((o?: Given) => act("screenshot", () => ({}), o)),
  }),
  navigate: freeze((url: unknown, o?: Given) => act("navigate", () => ({ url }), o)),
  tabs: freeze({
    list: freeze((o?: Given) => act("tabsList", () => ({}), o)),
    get: freeze((id: unknown, o?: Given) => act("tabsGet", () => tab(id), o)),
    create: freeze((o?: Given) => act("tabsCreate", () => ({ url: o?.["url"] }), o)),
    close: freeze((id: unknown, o?: Given) => act("tabsClose", () => tab(id), o)),
  }),
  tab: freeze({
    readability: freeze((id: unknown, o?: Given) => act("readability", () => tab(id), o)),
    getHtml: freeze((id: unknown, o?: Given) => act("getHtml", () => tab(id), o)),
    getElement: freeze((id: unknown, selector: unknown, o?: Given) => act("getElement", () => ({ ...tab(id), selector }), o)),
    waitForSelector: freeze((id: unknown, selector: unknown, o?: Given) => act("waitForSelector", () => ({ ...tab(id), selector, ...wait(o) }), o)),
    click: freeze((id: unknown, selector: unknown, o?: Given) => act("click", () => ({ ...tab(id), selector, ...button(o) }), o)),
    fill: freeze((id: unknown, selector: unknown, value: unknown, o?: Given) => act("fill", () => ({ ...tab(id), selector, value }), o)),
    select: freeze((id: unknown, selector: unknown, values: unknown, o?: Given) => act("select", () => ({ ...tab(id), selector, values }), o)),
    scroll: freeze((id: unknown, o?: Given) => act("scroll", () => ({ ...tab(id), ...distance(o) }), o)),
    screenshot: freeze((id: unknown, o?: Given) => act("screenshot", () => tab(id), o)),
    navigate: freeze((id: unknown, url: unknown, o?: Given) => act("navigate", () => ({ ...tab(id), url }), o)),
    waitForLoad: freeze((id: unknown, o?: Given) => act("waitForLoad", () => tab(id), o)),
  }),
});
