// Whether AI clients and the agent may use this browser, what they have open in it, and Stop.
//
// Must never switch it on by itself: the browser asks for the permission at the person's click.

import { askForCookies, leaveCookies } from "../../../shared/browser/cookies.ts";
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
const SWITCH_COOKIES = "browser cookies";
const SWITCH_MARKS = "browser marks";
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
      ...(isOn ? marksOf(hands, view) : []),
      ...(isOn ? downloadsOf(hands, view) : []),
      ...(isOn ? cookiesOf(hands, view) : []),
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

/** Whether an element is marked before it is used. */
function marksOf(hands: Hands, { marks }: BrowserToolsView): Child[] {
  const change = () => hands.act(SWITCH_MARKS, () => look(hands, { marks: !marks }));
  const props = { class: "switch", role: "switch", "aria-checked": String(marks), id: "marks-switch", key: "marks", busy: hands.isBusy(SWITCH_MARKS) };
  return [
    h("p", { key: "marks" }, button("Mark what they use", change, props)),
    h("p.soft", { key: "about-marks" }, "In a tab that you look at, a frame is around each element for a moment before an app uses it."),
    failure(hands, SWITCH_MARKS),
  ];
}

/** Whether apps see what their tabs download. */
function downloadsOf(hands: Hands, { downloads }: BrowserToolsView): Child[] {
  const about = "They see the downloads of their own tabs. Harbor asks you before an app gets a file.";
  return permissionOf(hands, { act: SWITCH_DOWNLOADS, id: "downloads", isOn: downloads, words: "Let them follow downloads", about, ask: askForDownloads, leave: leaveDownloads });
}

/** Whether apps can use cookies at all; who may is granted by the tools' names. */
function cookiesOf(hands: Hands, { cookies }: BrowserToolsView): Child[] {
  const about = "For apps that you granted the tools browser_cookie_… by name; these are in the group \"storage\" of config.toml. Cookies are your logins: Harbor asks you at each site.";
  return permissionOf(hands, { act: SWITCH_COOKIES, id: "cookies", isOn: cookies, words: "Let them use cookies, where I grant it", about, ask: askForCookies, leave: leaveCookies });
}

interface PermissionSwitch {
  act: string;
  id: string;
  isOn: boolean;
  words: string;
  about: string;
  ask(): Promise<boolean>;
  leave(): Promise<boolean>;
}

/** A switch that is a permission of the browser's. */
function permissionOf(hands: Hands, { act, id, isOn, words, about, ask, leave }: PermissionSwitch): Child[] {
  /** The browser asks at the click that switches it on. */
  const change = async () => {
    if (!isOn && !(await ask())) hands.say("You did not give the browser's permission, so nothing has changed");
    if (isOn && !(await leave())) hands.say("The browser did not take the permission back");
    await look(hands, {});
  };
  const props = { class: "switch", role: "switch", "aria-checked": String(isOn), id: `${id}-switch`, key: id, busy: hands.isBusy(act) };
  return [
    h("p", { key: id }, button(words, () => hands.act(act, change), props)),
    h("p.soft", { key: `about-${id}` }, about),
    failure(hands, act),
  ];
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

async function look(hands: Hands, fields: { on?: boolean; marks?: boolean; stop?: string }): Promise<void> {
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
