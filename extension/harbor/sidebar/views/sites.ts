// Who may use the person's tools, models and browser: AI apps, web sites, and what waits for a yes. And how access is revoked.
//
// Must never give anything: a grant is made on the page of a question.

import { DEFAULT_PROFILE, profileWords } from "../../../shared/origins/profile.ts";
import { callsSince } from "../activity.ts";
import { isClient } from "../clients.ts";
import { dayOf } from "../days.ts";
import { type Child, type VNode, h } from "../dom.ts";
import type { Hands, View } from "../hands.ts";
import { revoke } from "../granted.ts";
import { iconOf } from "../icon.ts";
import { button, command, failure, oneLine, waiting } from "../parts.ts";
import { type Permission, type Site, isDenial, sitesOf, typeWords } from "../permissions.ts";
import { hrefOf } from "../route.ts";
import { accessBy, hostOf, shortWords } from "../site.ts";
import { count, scopeWords, timeWords } from "../words.ts";
import { heard, watch } from "./activity.ts";
import { BROWSER_SWITCH, browserSwitch, heardBrowser, loadBrowser } from "./browser_tools.ts";
import { waitingOf } from "./questions.ts";

export const sites: View<{ at: "sites" }> = {
  title: () => "Access",
  enter(hands, _, signal) {
    watch(hands, undefined, signal);
    loadBrowser(hands, signal);
  },
  heard(hands, _, type, payload) {
    heard(hands, type, undefined);
    heardBrowser(hands, type, payload);
  },
  show(hands) {
    const { grants } = hands.state;
    const head = h("h2.unseen", { tabindex: "-1", id: "title" }, "Access");
    const about = h("p.soft", {}, "Who may use your tools and models, and this browser. Open one to change that.");
    if (grants === undefined) return [head, about, failure(hands, "grants"), waiting("Asking Harbor…")];
    const found = sitesOf(grants);
    const waits = waitingOf(hands.state).ofOthers > 0;
    return [
      head,
      about,
      failure(hands, "grants"),
      waits ? questionsRow(hands) : undefined,
      ...group(hands, "AI apps", found.filter(isApp), ["No AI app has access yet. Connect one:", command("harbor setup", hands)]),
      ...group(hands, "Web sites", found.filter((one) => !isApp(one)), ["No web site has access yet. A site that wants to use your tools asks you first."]),
      h("h3.group", {}, "This browser"),
      h("ul.rows", {}, browserRow(hands)),
      failure(hands, BROWSER_SWITCH),
      waits ? undefined : questionsRow(hands),
    ];
  },
};

const isApp = ({ origin }: Site) => isClient(origin);

function group(hands: Hands, name: string, found: Site[], [none, more]: [Child, Child?]): Child[] {
  const list = found.length === 0 ? h("div", {}, h("p.empty", {}, none), more) : h("ul.rows", {}, ...found.map((site) => rowOf(hands, site)));
  return [h("h3.group", {}, name, found.length === 0 ? undefined : h("span.many", {}, ` (${found.length})`)), list];
}

/** Its name, and in a few words what it may do and how much it did today. */
function rowOf(hands: Hands, { origin, profile, permissions }: Site): VNode {
  const { grants = [], servers = [] } = hands.state;
  const access = accessBy(grants.filter((one) => one.origin === origin && one.profile === profile), servers);
  const tone = access.is === "blocked" ? "bad" : "good";
  return h(
    "li.server",
    { key: `${origin} ${profile}`, "data-origin": origin },
    iconOf(hostOf(origin)),
    h(
      "div.what",
      {},
      h("a.name.whole", { href: hrefOf({ at: "site", origin }) }, oneLine(hostOf(origin)), profileBadge(profile)),
      h("p.standing", { "data-tone": tone }, h("span.words", {}, [shortWords(access, Date.now()), ...callsToday(hands, origin), onlyBlocked(permissions)].filter((one) => one !== "").join(" · "))),
    ),
    h("span.go", { "aria-hidden": "true" }, "›"),
  );
}

/** The profile of the browser that it is in. */
export function profileBadge(profile: string): Child {
  return profile === DEFAULT_PROFILE ? undefined : h("span.badge", { "data-profile": profile }, oneLine(profileWords(profile)));
}

/** Of one that is allowed something, and blocked from something else. */
function onlyBlocked(permissions: Permission[]): string {
  const blocked = permissions.filter(isDenial).flatMap(({ scopes }) => scopes);
  return blocked.length > 0 && permissions.some((one) => !isDenial(one) && one.overridden !== true) ? "partly blocked" : "";
}

function callsToday(hands: Hands, origin: string): string[] {
  const { activity } = hands.state;
  if (activity === undefined || activity.origin !== undefined) return [];
  const calls = callsSince(activity.list, origin, dayOf(Date.now()));
  return calls === 0 ? [] : [`${count(calls, "call")} today`];
}

function browserRow(hands: Hands): VNode {
  const { browser: view } = hands.state;
  const isOn = view?.on === true && view.permitted;
  const words = view === undefined ? "…" : !isOn ? "off" : view.sessions.length === 0 ? "on, nothing open" : `on, ${count(view.sessions.length, "app")} at work`;
  return h(
    "li.server",
    { key: "browser", "data-row": "browser" },
    h("div.what", {}, h("a.name.whole", { href: hrefOf({ at: "browser" }) }, "Browser control"), h("p.standing", { "data-tone": isOn ? "good" : "idle" }, h("span.words", {}, `AI apps in this browser: ${words}`))),
    view === undefined ? undefined : browserSwitch(hands, view, "Let AI apps use this browser", true),
  );
}

function questionsRow(hands: Hands): VNode {
  const { ofOthers } = waitingOf(hands.state);
  const standing = hands.state.approvals?.standing.length ?? 0;
  const words = ofOthers > 0 ? `${count(ofOthers, "call")} cannot go on before you answer` : standing === 0 ? "nothing waits for your yes" : `nothing waits; ${count(standing, "answer")} stand${standing === 1 ? "s" : ""}`;
  return h(
    "section",
    { key: "questions" },
    h("h3.group", {}, "Questions that wait", h("span.many", {}, ` (${ofOthers})`)),
    h("ul.rows", {}, h("li.server", { "data-row": "questions" }, h("div.what", {}, h("a.name.whole", { href: hrefOf({ at: "questions" }) }, "Questions"), h("p.standing", { "data-tone": ofOthers > 0 ? "warn" : "idle" }, h("span.words", {}, words))), h("span.go", { "aria-hidden": "true" }, "›"))),
  );
}

/** The rows of what it may do, and the way to revoke all of it. */
export function permissionsOf(hands: Hands, { origin, profile, permissions }: Site): Child[] {
  const act = `revoke ${origin} ${profile}`;
  const all = () => hands.act(act, () => revoke(hands, origin, profile, permissions));
  return [
    h("ul", {}, ...permissions.map((one) => permissionOf(hands, origin, profile, one))),
    permissions.length < 2 ? undefined : button("Revoke all", all, { class: "quiet danger", "data-revoke": "all", "aria-label": `Revoke all access of ${hostOf(origin)}`, busy: hands.isBusy(act) }),
    failure(hands, act),
  ];
}

function permissionOf(hands: Hands, origin: string, profile: string, permission: Permission): VNode {
  const { scopes, type, tools, overridden } = permission;
  const [scope = ""] = scopes;
  const act = `revoke ${origin} ${profile} ${scopes.join(" ")} ${type}`;
  const one = () => hands.act(act, () => revoke(hands, origin, profile, [permission]));
  const back = isDenial(permission) ? "Unblock" : "Revoke";
  return h(
    overridden ? "li.overridden" : "li",
    { key: `${scopes.join(" ")} ${type}` },
    h(
      "div.what",
      {},
      h("p", {}, h("span.scope", {}, scopeWords(scope)), h("span.badge", { "data-type": type }, typeWords(type)), h("span.soft", {}, howLong(permission))),
      isDenial(permission) || !scope.startsWith("mcp:") ? undefined : h("p.words", {}, tools === undefined ? "All tools" : tools.length === 0 ? "No tools" : oneLine(tools.map(toolWords).join(", "))),
    ),
    button(back, one, { class: "small", "data-revoke": scope, "aria-label": `${back}: ${scopeWords(scope)} (${typeWords(type)}) of ${hostOf(origin)}`, busy: hands.isBusy(act) }),
    failure(hands, act),
  );
}

function howLong({ ends, tabs, overridden }: Permission): string {
  const until = ends === undefined ? "" : ` until ${timeWords(ends)}`;
  const where = tabs === 0 ? "" : tabs === 1 ? ", in one tab" : `, in ${tabs} tabs`;
  return `${until}${where}${overridden ? ", has no effect while blocked" : ""}`;
}

function toolWords(tool: string): string {
  return tool.endsWith("/*") ? `all of ${tool.slice(0, -2)}` : tool;
}
