// Whether AI clients and the agent may use this browser, what they have open in it, and Stop.
//
// Must never switch it on by itself: the browser asks for the permission at the person's click.

import { askForDownloads, leaveDownloads } from "../../../shared/browser/downloads.ts";
import { askForPages, askForScripts } from "../../../shared/browser/tabs.ts";
import type { Fields } from "../../../shared/ports/wire.ts";
import type { BrowserToolsView } from "../../browser/switch.ts";
import { browsersOf, coverOf, isClient, toolsOf } from "../clients.ts";
import { type Child, type VNode, h } from "../dom.ts";
import type { Hands, View } from "../hands.ts";
import { button, empty, failure, oneLine, waiting } from "../parts.ts";
import { hrefOf } from "../route.ts";
import { BROWSER_TOOLS } from "../serve.ts";
import { hostOf } from "../site.ts";
import { back } from "./head.ts";

const SWITCH = "browser tools";
const SWITCH_DOWNLOADS = "browser downloads";
const SCRIPTS = "browser scripts";
/** How it stands is read under another name: a click that comes meanwhile counts. */
const READ = "browser tools there";
/** Under this name a failure of the switch is said. */
export const BROWSER_SWITCH = SWITCH;

export const browser: View<{ at: "browser" }> = {
  title: () => "Browser control",
  enter: (hands, _, signal) => loadBrowser(hands, signal),
  heard: (hands, _, type, payload) => heardBrowser(hands, type, payload),
  show(hands) {
    const { browser: view } = hands.state;
    const about = "AI apps, and Harbor's own agent, can read pages and act in them. Each gets tabs of its own, in a group with its name. Your other tabs stay out of it.";
    const head = [back({ at: "sites" }, "Access"), h("h2", { tabindex: "-1", id: "title" }, "Browser control"), h("p.soft", {}, about)];
    if (view === undefined) return [...head, failure(hands, READ), waiting("Asking…")];
    const isOn = view.on && view.permitted;
    return [
      ...head,
      h("p", {}, browserSwitch(hands, view, "Let AI apps use this browser", false)),
      h("p.soft", { id: "browser-state" }, isOn ? "On. Harbor asks you at the first call of an app." : "Off."),
      failure(hands, SWITCH),
      ...(isOn ? downloadsOf(hands, view) : []),
      ...(isOn ? scriptsOf(hands, view) : []),
      ...(isOn ? sessionsOf(hands, view) : []),
      ...appsOf(hands, view),
    ];
  },
};

/** Whether apps can run scripts in pages at all; who may is granted by its name. */
function scriptsOf(hands: Hands, { scripts }: BrowserToolsView): Child[] {
  if (scripts) return [h("p.soft", { id: "scripts-state" }, "Apps that you granted browser_evaluate by name can run scripts in pages. Harbor asks you at each site.")];
  const ask = async () => {
    const given = await askForScripts();
    await look(hands, {});
    if (!given) hands.say("You did not give the browser's permission, so nothing has changed");
  };
  const hint = __BROWSER__ === "chrome" ? " Chromium also wants \"Allow User Scripts\" switched on, among the details of Harbor at chrome://extensions." : "";
  return [
    h("p.soft", { id: "scripts-state" }, `Apps cannot run scripts of their own in pages.${hint}`),
    h("p", {}, button("Let them, where I grant it", () => hands.act(SCRIPTS, ask), { id: "allow-scripts", class: "small", busy: hands.isBusy(SCRIPTS) })),
    failure(hands, SCRIPTS),
  ];
}

/** The switch. `short`: beside a name that says it, so that it has no words of its own. */
export function browserSwitch(hands: Hands, view: BrowserToolsView, words: string, short: boolean): VNode {
  const isOn = view.on && view.permitted;
  const change = () => hands.act(SWITCH, () => (isOn ? look(hands, { on: false }) : switchOn(hands, view)));
  const props = { class: short ? "switch short" : "switch", role: "switch", "aria-checked": String(isOn), "aria-label": short ? words : undefined, id: "browser-switch", key: "switch", busy: hands.isBusy(SWITCH) };
  return button(short ? "" : words, change, props);
}

/** Whether apps see what their tabs download. */
function downloadsOf(hands: Hands, { downloads }: BrowserToolsView): Child[] {
  const change = () => hands.act(SWITCH_DOWNLOADS, () => switchDownloads(hands, !downloads));
  const props = { class: "switch", role: "switch", "aria-checked": String(downloads), id: "downloads-switch", key: "downloads", busy: hands.isBusy(SWITCH_DOWNLOADS) };
  return [
    h("p", { key: "downloads" }, button("Let them follow downloads", change, props)),
    h("p.soft", { key: "about-downloads" }, "They see the downloads of their own tabs. Harbor asks you before an app gets a file."),
    failure(hands, SWITCH_DOWNLOADS),
  ];
}

/** The browser asks at the click that switches it on. */
async function switchDownloads(hands: Hands, on: boolean): Promise<void> {
  if (on && !(await askForDownloads())) hands.say("You did not give the browser's permission, so nothing has changed");
  if (!on && !(await leaveDownloads())) hands.say("The browser did not take the permission back");
  await look(hands, {});
}

/** Who would use it: an app that may use everything, or was given this browser. */
function appsOf({ state }: Hands, { source }: BrowserToolsView): Child[] {
  const names = [...new Set((state.grants ?? []).map(({ origin }) => origin).filter(isClient))].sort();
  const apps = names.map((origin) => [origin, toolsOf(origin, state.grants ?? [])] as const);
  const may = apps.filter(([, tools]) => tools !== undefined && browsersOf(tools, source).some((one) => coverOf(tools, one) !== 0)).map(([origin]) => origin);
  const others = apps.map(([origin]) => origin).filter((origin) => !may.includes(origin));
  const list = (of: string[]) => h("ul.rows", {}, ...of.map((origin) => h("li", { key: origin }, h("a.name", { href: hrefOf({ at: "site", origin }) }, oneLine(hostOf(origin))))));
  return [
    may.length === 0 ? undefined : h("div", { key: "may" }, h("h3.group", {}, "May use it"), list(may)),
    others.length === 0 ? undefined : h("div", { key: "asks" }, h("h3.group", {}, "Must ask you first"), list(others)),
  ];
}

/** Reads whether clients may use this browser. */
export function loadBrowser(hands: Hands, left: AbortSignal): void {
  hands.read(READ, () => look(hands, {}), left);
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
  if (sessions.length === 0) return [h("h3.group", {}, "Open now"), empty("No app has a tab open here.")];
  return [h("h3.group", {}, "Open now"), h("ul.sites", {}, ...sessions.map((session) => sessionOf(hands, session)))];
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
