// The tools that the page beside the panel offers: their switch, and what they are called while it is on.
//
// Must never switch them on by itself, or show a word of the page's: only how many there are.

import type { Fields } from "../../../shared/ports/wire.ts";
import { PAGE_TOOLS, parsePageTools } from "../../page_source/view.ts";
import { type Child, h } from "../dom.ts";
import type { Hands } from "../hands.ts";
import { oneLine } from "../parts.ts";
import { allowed, withPage } from "./page_doing.ts";
import { changePage, lookAtPage } from "./page_open.ts";
import { PageError } from "./page_take.ts";
import { type Standing } from "./page_rules.ts";

/** Under which name switching them is under way. */
const TOOLS_ACT = "page tools";

/** The line below the page, where it has tools that may be used. */
export function pageTools(hands: Hands, { is }: Standing): Child {
  const { tools: view } = hands.state.page;
  if (view === undefined || view.tools === 0 || (is !== "on" && is !== "off")) return undefined;
  const { on: isOn, source, problem } = view;
  const words = `Let the chat and AI apps use this page's tools (${view.tools})`;
  const busy = hands.isBusy(TOOLS_ACT) ? "true" : undefined;
  return h(
    "div.page-tools",
    { key: "page tools", id: "page-tools", "data-on": String(isOn) },
    h("button.switch", { id: "page-tools-switch", type: "button", role: "switch", "aria-checked": String(isOn), "aria-disabled": busy, on: { click: () => switchTools(hands, !isOn) } }, words),
    isOn ? h("p.why", {}, ...about(source, problem)) : undefined,
  );
}

function about(source: string | undefined, problem: string | undefined): Child[] {
  if (problem !== undefined) return ["Harbor did not take them: ", oneLine(problem)];
  return source === undefined ? ["Harbor has not taken them yet."] : ["On for this site. This page is ", oneLine(source), " until it goes. What its tools answer is the page's word."];
}

function switchTools(hands: Hands, isOn: boolean): void {
  const act = async () => {
    const { tab, origin } = isOn ? await allowed(hands) : (hands.state.page.open ?? {});
    const view = parsePageTools(await hands.own(PAGE_TOOLS, { tab, origin, on: isOn }));
    heardPageTools(hands, { ...view });
  };
  withPage(hands, act, TOOLS_ACT);
}

/** Has the browser let the page be asked for its tools: their switch is there where it has some. */
export function findTools(hands: Hands): void {
  withPage(hands, async () => {
    const { tab, origin } = await allowed(hands);
    const view = parsePageTools(await hands.own(PAGE_TOOLS, { tab, origin, look: true }));
    if (view === undefined || view.tools === 0) throw new PageError("This page has no tools that Harbor could use.");
    await lookAtPage(hands);
  });
}

/** What the background says of a tab. */
export function heardPageTools(hands: Hands, payload: Fields): void {
  const view = parsePageTools(payload);
  if (view !== undefined && view.tab === hands.state.page.open?.tab) changePage(hands, { tools: view });
}
