// What sites and AI clients may do, and how that is taken back.
//
// Must never give anything: a grant is made on the page of a question.

import { type VNode, h } from "../dom.ts";
import type { Hands, View } from "../hands.ts";
import { button, empty, failure, oneLine, waiting } from "../parts.ts";
import { type Permission, type Site, inOrderOfEnding, isDenial, sitesOf, typeWords } from "../permissions.ts";
import { count, scopeWords, timeWords } from "../words.ts";

export const sites: View<{ at: "sites" }> = {
  title: () => "Sites",
  enter: (hands, _, signal) => load(hands, signal),
  heard(hands, _, type) {
    if (type === "grant_changed") load(hands);
  },
  show(hands) {
    const { grants } = hands.state;
    const head = h("p.soft", {}, "What sites and AI clients may do with your tools. Taking something back holds at once.");
    if (grants === undefined) return [head, failure(hands, "grants"), waiting("Asking Harbor…")];
    const found = sitesOf(grants);
    const none = empty("Nobody may do anything. A site that wants to use your tools asks you first.");
    return [head, failure(hands, "grants"), found.length === 0 ? none : h("ul.sites", {}, ...found.map((site) => siteOf(hands, site)))];
  },
};

function load(hands: Hands, left?: AbortSignal): void {
  hands.read("grants", async (signal) => {
    const { grants } = await hands.ask("host_list_all_permissions", {}, { signal });
    hands.change({ grants });
  }, left);
}

function siteOf(hands: Hands, { origin, profile, permissions }: Site): VNode {
  const client = origin.startsWith("client://");
  const act = `revoke ${origin} ${profile}`;
  const all = () => hands.act(act, () => revoke(hands, origin, profile, permissions));
  const name = client ? origin.slice("client://".length) : origin;
  return h(
    "li.site",
    { key: `${origin} ${profile}`, "data-origin": origin },
    h("h3", {}, oneLine(name), client ? h("span.badge", {}, "AI client") : undefined, profile === "default" ? undefined : h("span.badge", {}, oneLine(profile))),
    h("ul", {}, ...permissions.map((one) => permissionOf(hands, origin, profile, one))),
    permissions.length < 2 ? undefined : button("Take back all", all, { class: "quiet danger", "data-revoke": "all", "aria-label": `Take back all of ${name}`, busy: hands.isBusy(act) }),
    failure(hands, act),
  );
}

function permissionOf(hands: Hands, origin: string, profile: string, permission: Permission): VNode {
  const { scope, type, tools, ends, tabs, overridden } = permission;
  const act = `revoke ${origin} ${profile} ${scope} ${type}`;
  const one = () => hands.act(act, () => revoke(hands, origin, profile, [permission]));
  const until = ends === undefined ? "" : `, until ${timeWords(ends)}`;
  const where = tabs === 0 ? "" : `, in ${count(tabs, "tab")}`;
  const held = overridden ? ", does not hold: denied above" : "";
  const back = isDenial(permission) ? "Allow asking again" : "Take back";
  return h(
    overridden ? "li.overridden" : "li",
    { key: `${scope} ${type}` },
    h(
      "div.what",
      {},
      h("p", {}, h("span.scope", {}, scopeWords(scope)), h("span.badge", { "data-type": type }, typeWords(type)), h("span.soft", {}, `${until}${where}${held}`)),
      h("p.words", {}, tools === undefined ? "All tools" : tools.length === 0 ? "No tools" : oneLine(tools.map(toolWords).join(", "))),
    ),
    button(back, one, { class: "small", "data-revoke": scope, "aria-label": `${back}: ${scopeWords(scope)} (${typeWords(type)}) of ${origin}`, busy: hands.isBusy(act) }),
    failure(hands, act),
  );
}

function toolWords(tool: string): string {
  return tool.endsWith("/*") ? `all of ${tool.slice(0, -2)}` : tool;
}

async function revoke(hands: Hands, origin: string, profile: string, permissions: Permission[]): Promise<void> {
  for (const { scope, type } of inOrderOfEnding(permissions)) {
    await hands.ask("host_revoke_permission", { origin, profile, scope, grant_type: type });
  }
  hands.say(permissions.every(isDenial) ? "It may ask again" : "Taken back");
}
