// `agent.browser`: what Harbor does for a page in the page's own tab, and in tabs that it has opened.
//
// Owns how a page says it: a table, since all of it is said alike. Must never look at an argument: what it may be is said where it is read.

import { defineProperty, freeze, hasOwn } from "./builtins.ts";
import { type Options, ask } from "./channel.ts";
import { attempt, shown } from "./errors.ts";

type Given = { [name: string]: unknown } | null | undefined;
type Names = readonly string[];
type Method = (...given: unknown[]) => Promise<unknown>;

const NONE: Names = [];
const SELECTOR: Names = ["selector"];
const TIMEOUT: Names = ["timeout"];
const URL: Names = ["url"];

/** What each act is told in its options, which come last. */
const IN_OPTIONS: { [act: string]: Names } = {
  waitForSelector: TIMEOUT,
  waitForNavigation: TIMEOUT,
  click: ["button", "doubleClick"],
  scroll: ["selector", "x", "y", "to"],
  tabsCreate: URL,
};

/** What is done alike in the page's own tab and in another one, and what each is told before its options. */
const IN_DOCUMENT = {
  readability: NONE,
  getElement: SELECTOR,
  waitForSelector: SELECTOR,
  click: SELECTOR,
  fill: ["selector", "value"] as Names,
  select: ["selector", "values"] as Names,
  scroll: NONE,
  screenshot: NONE,
};

/** `inTab`: the tab's id comes first. A getter of the page's that throws has the call fail, and not the script around it. */
function method(act: string, told: Names, inTab = false): Method {
  const first = inTab ? 1 : 0;
  return freeze((...given: unknown[]) =>
    attempt(() => {
      const fields: { [name: string]: unknown } = { __proto__: null, act };
      // One that is not said is none, and never the page's own tab.
      if (inTab) fields["tabId"] = given[0] === undefined ? null : given[0];
      for (let at = 0; at < told.length; at += 1) fields[told[at] as string] = given[first + at];
      const options = given[first + told.length] as Given;
      const more = hasOwn(IN_OPTIONS, act) ? (IN_OPTIONS[act] as Names) : NONE;
      for (let at = 0; at < more.length; at += 1) fields[more[at] as string] = options?.[more[at] as string];
      return ask("browser", fields, { signal: options?.["signal"] as Options["signal"] });
    }),
  );
}

function methods<N extends string>(acts: { readonly [name in N]: Names }, inTab: boolean): { readonly [name in N]: Method } {
  const made = {} as { [name in N]: Method };
  for (const name in acts) if (hasOwn(acts, name)) defineProperty(made, name, shown(method(name, acts[name], inTab)));
  return freeze(made);
}

/** What pages find as `agent.browser`. */
export const browser = freeze({
  activeTab: methods(IN_DOCUMENT, false),
  navigate: method("navigate", URL),
  waitForNavigation: method("waitForNavigation", NONE),
  tabs: freeze({
    list: method("tabsList", NONE),
    get: method("tabsGet", NONE, true),
    create: method("tabsCreate", NONE),
    close: method("tabsClose", NONE, true),
  }),
  tab: methods({ ...IN_DOCUMENT, getHtml: NONE, navigate: URL, waitForLoad: NONE, waitForNavigation: NONE }, true),
});
