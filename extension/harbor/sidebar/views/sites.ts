// What sites and AI clients may do, what they did last, and how their access is revoked.
//
// Must never give anything: a grant is made on the page of a question.

import { lastCall } from "../activity.ts";
import { type Child, type VNode, h } from "../dom.ts";
import type { Hands, View } from "../hands.ts";
import { button, empty, failure, oneLine, waiting } from "../parts.ts";
import { type Permission, type Site, inOrderOfEnding, isDenial, sitesOf, typeWords } from "../permissions.ts";
import { hrefOf } from "../route.ts";
import { PAGE_OPTIONS } from "../serve.ts";
import { hostOf } from "../site.ts";
import { count, scopeWords, timeWords } from "../words.ts";
import { heard, watch } from "./activity.ts";

const OPTIONS = "page options";

export const sites: View<{ at: "sites" }> = {
  title: () => "Sites",
  enter: (hands, _, signal) => watch(hands, undefined, signal),
  heard: (hands, _, type) => heard(hands, type, undefined),
  show(hands) {
    const { grants } = hands.state;
    const head = h("p.soft", {}, "What sites and AI clients may do with your tools and models. Revoking takes effect at once.");
    if (grants === undefined) return [head, failure(hands, "grants"), waiting("Asking Harbor…")];
    const found = sitesOf(grants);
    const options = () => hands.act(OPTIONS, () => hands.own(PAGE_OPTIONS).then(() => undefined));
    const more = h("p.buttons", {}, button("What pages may ask for…", options, { id: "page-options", class: "quiet" }), h("a.button.quiet", { href: hrefOf({ at: "browser" }), id: "browser-tools" }, "Browser tools…"));
    const none = empty("No site or client has access yet. A site that wants to use your tools asks you first.");
    return [head, failure(hands, "grants"), found.length === 0 ? none : h("ul.sites", {}, ...found.map((site) => siteOf(hands, site))), more, failure(hands, OPTIONS)];
  },
};

/** Reads all grants. */
export function loadGrants(hands: Hands, left?: AbortSignal): void {
  hands.read("grants", async (signal) => {
    const { grants } = await hands.ask("host_list_all_permissions", {}, { signal });
    hands.change({ grants });
  }, left);
}

function siteOf(hands: Hands, site: Site): VNode {
  const { origin, profile } = site;
  const client = origin.startsWith("client://");
  return h(
    "li.site",
    { key: `${origin} ${profile}`, "data-origin": origin },
    h(
      "h3",
      {},
      h("a.name", { href: hrefOf({ at: "site", origin }) }, oneLine(hostOf(origin))),
      client ? h("span.badge", {}, "AI client") : undefined,
      client ? h("a.button.quiet", { href: hrefOf({ at: "site", origin }), "aria-label": `Choose the tools of ${hostOf(origin)}` }, "Choose tools…") : undefined,
      profile === "default" ? undefined : h("span.badge", {}, oneLine(profile)),
    ),
    h("p.soft.last", {}, ...lastOf(hands, origin)),
    ...permissionsOf(hands, site),
  );
}

function lastOf(hands: Hands, origin: string): Child[] {
  const { activity } = hands.state;
  if (activity === undefined || activity.origin !== undefined) return [" "];
  const found = lastCall(activity.list, origin, Date.now());
  if (found === undefined) return ["No calls yet"];
  const { calls, last } = found;
  return [calls === 0 ? "" : `${count(calls, "call")} in the last hour · `, "last: ", oneLine(last.what), `, ${timeWords(last.at)}`];
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

export async function revoke(hands: Hands, origin: string, profile: string, permissions: Permission[]): Promise<void> {
  for (const { scopes, type } of inOrderOfEnding(permissions)) {
    for (const scope of scopes) await hands.ask("host_revoke_permission", { origin, profile, scope, grant_type: type });
  }
  hands.say(permissions.every(isDenial) ? "Unblocked: it may ask again" : "Access revoked");
}
