// Whether AI clients and the agent may use this browser, what they have open in it, and Stop.
//
// Must never switch it on by itself: the browser asks for the permission at the person's click.

import { askForPages } from "../../../shared/browser/tabs.ts";
import type { Fields } from "../../../shared/ports/wire.ts";
import type { BrowserToolsView } from "../../browser/switch.ts";
import { type Child, type VNode, h } from "../dom.ts";
import type { Hands, View } from "../hands.ts";
import { button, empty, failure, oneLine, waiting } from "../parts.ts";
import { BROWSER_TOOLS } from "../serve.ts";
import { back } from "./head.ts";

const SWITCH = "browser tools";

export const browser: View<{ at: "browser" }> = {
  title: () => "Browser tools",
  enter: (hands, _, signal) => loadBrowser(hands, signal),
  heard: (hands, _, type, payload) => heardBrowser(hands, type, payload),
  show(hands) {
    const { browser: view } = hands.state;
    const about = "AI clients, and Harbor's own agent, can read pages and act in them: in tabs of their own, each client in a group with its name. Your other tabs stay out of it.";
    const head = [back({ at: "sites" }, "Sites"), h("h2", { tabindex: "-1", id: "title" }, "Browser tools"), h("p.soft", {}, about)];
    if (view === undefined) return [...head, failure(hands, SWITCH), waiting("Asking…")];
    const isOn = view.on && view.permitted;
    const change = () => hands.act(SWITCH, () => (isOn ? look(hands, { on: false }) : switchOn(hands, view)));
    const words = isOn ? "On. Harbor asks you at the first call of a client." : "Off.";
    return [
      ...head,
      h("p", { id: "browser-state" }, words),
      h("p.buttons", {}, button(isOn ? "Switch off" : "Let AI clients use this browser", change, { id: "browser-switch", busy: hands.isBusy(SWITCH) })),
      failure(hands, SWITCH),
      ...(isOn ? sessionsOf(hands, view) : []),
    ];
  },
};

/** Reads whether clients may use this browser. */
export function loadBrowser(hands: Hands, left: AbortSignal): void {
  hands.read(SWITCH, () => look(hands, {}), left);
}

export function heardBrowser(hands: Hands, type: string, payload: Fields): void {
  if (type === "browser") hands.change({ browser: payload as unknown as BrowserToolsView });
}

/** The browser asks first, unless it did before: it takes that from a click only. */
async function switchOn(hands: Hands, { permitted }: BrowserToolsView): Promise<void> {
  if (!permitted && !(await askForPages())) {
    hands.say("You did not give the browser's permission, so nothing has changed");
    return;
  }
  await look(hands, { on: true });
}

async function look(hands: Hands, fields: { on?: boolean; stop?: string }): Promise<void> {
  hands.change({ browser: await hands.own(BROWSER_TOOLS, fields) as BrowserToolsView });
}

function sessionsOf(hands: Hands, { sessions }: BrowserToolsView): Child[] {
  if (sessions.length === 0) return [empty("No client has a tab open here.")];
  return [h("ul.sites", {}, ...sessions.map((session) => sessionOf(hands, session)))];
}

function sessionOf(hands: Hands, { id, label, tabs, last }: BrowserToolsView["sessions"][number]): VNode {
  const act = `stop ${id}`;
  const stop = () => hands.act(act, () => look(hands, { stop: id }));
  return h(
    "li.site",
    { key: id, "data-session": id },
    h("h3", {}, oneLine(label)),
    h("ul", {}, ...tabs.map((tab) => h("li", { key: String(tab.id) }, h("p.words", {}, oneLine(tab.title || tab.url))))),
    last === undefined ? undefined : h("p.soft.last", {}, "last: ", oneLine(last)),
    button("Stop", stop, { class: "small danger", "aria-label": `Stop ${label}`, busy: hands.isBusy(act) }),
    failure(hands, act),
  );
}
