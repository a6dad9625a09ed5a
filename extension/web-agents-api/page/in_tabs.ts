// `agent.browser`: what Harbor does for a page in the page's own tab.
//
// Owns how a page says it. Must never look at an argument: what it may be is said where it is read.

import { freeze } from "./builtins.ts";
import { type Options, ask } from "./channel.ts";
import { rejected } from "./errors.ts";

type Given = { [name: string]: unknown } | null | undefined;

/** Asks for an act. A getter of the page's that throws has the call fail, and not the script around it. */
function act(name: string, fields: () => object, options: Given): Promise<unknown> {
  try {
    return ask("browser", { __proto__: null, act: name, ...fields() }, { signal: options?.["signal"] as Options["signal"] });
  } catch (error) {
    return rejected(error);
  }
}

/** What pages find as `agent.browser`. */
export const browser = freeze({
  activeTab: freeze({
    readability: freeze((options?: Given) => act("readability", () => ({}), options)),
    getElement: freeze((selector: unknown, options?: Given) => act("getElement", () => ({ selector }), options)),
    waitForSelector: freeze((selector: unknown, options?: Given) => act("waitForSelector", () => ({ selector, timeout: options?.["timeout"] }), options)),
    click: freeze((selector: unknown, options?: Given) => act("click", () => ({ selector, button: options?.["button"], doubleClick: options?.["doubleClick"] }), options)),
    fill: freeze((selector: unknown, value: unknown, options?: Given) => act("fill", () => ({ selector, value }), options)),
    select: freeze((selector: unknown, values: unknown, options?: Given) => act("select", () => ({ selector, values }), options)),
    screenshot: freeze((options?: Given) => act("screenshot", () => ({}), options)),
    scroll: freeze((options?: Given) => act("scroll", () => ({ selector: options?.["selector"], x: options?.["x"], y: options?.["y"], to: options?.["to"] }), options)),
  }),
});
