// What stands above everything about one server: its name, its state, its parts.
//
// Owns the way back and the way between parts.

import type { Server } from "../../../shared/protocol/generated/messages.ts";
import { visible } from "../../../shared/text/visible.ts";
import { type Child, type VNode, h } from "../dom.ts";
import type { Hands } from "../hands.ts";
import { iconOf } from "../icon.ts";
import { empty, oneLine, waiting } from "../parts.ts";
import { PARTS, type Part, type Route, hrefOf } from "../route.ts";
import { standingOf, stateOf } from "../words.ts";
import { toggle } from "./servers.ts";

const NAMES: { [part in Part]: string } = { overview: "Overview", tools: "Tools", logs: "Log", secrets: "Secrets" };

export function back(to: Route, words: string): VNode {
  return h("a.back", { href: hrefOf(to), id: "back" }, words);
}

export function serverOf({ state }: Hands, id: string): Server | undefined {
  return state.servers?.find((server) => server.server_id === id);
}

/** What is shown of a server; without it, why there is nothing. */
export function ofServer(hands: Hands, id: string, part: Part, show: (server: Server) => Child[]): Child[] {
  const server = serverOf(hands, id);
  if (server === undefined) {
    const none = hands.state.servers === undefined ? waiting("Waiting for Harbor…") : empty("This server no longer exists.");
    return [back({ at: "servers" }, "Tools"), none];
  }
  return [back({ at: "servers" }, "Tools"), head(hands, server, part), nav(hands, id, part), h("div.part", { key: part }, ...show(server))];
}

function head(hands: Hands, server: Server, part: Part): VNode {
  const { tone, wants } = standingOf(server, hands.state.missing[server.server_id]);
  // Without its key it cannot start: the form below has the button.
  const isFixedBelow = part === "overview" && wants === "secrets";
  return h(
    "div.server.head",
    {},
    iconOf(server.label, server.server_id),
    h(
      "div.what",
      {},
      h("h2", { tabindex: "-1", id: "title" }, oneLine(server.label)),
      h("p.standing", { "data-tone": tone }, h("span.state", {}, stateOf(server))),
    ),
    isFixedBelow ? undefined : toggle(hands, server, visible(server.label).text),
  );
}

function nav(hands: Hands, id: string, part: Part): VNode {
  const waits = (hands.state.missing[id]?.length ?? 0) > 0;
  const changed = (serverOf(hands, id)?.changed_tools ?? 0) > 0;
  const link = (one: Part) => {
    const marked = (one === "secrets" && waits) || (one === "tools" && changed);
    const props = { href: hrefOf({ at: "server", id, part: one }), "aria-current": one === part ? "page" : undefined, key: one };
    return h("a", props, NAMES[one], marked ? h("span.mark", {}, h("span.unseen", {}, " (needs your attention)")) : undefined);
  };
  return h("nav.parts", { "aria-label": "This server" }, ...PARTS.map(link));
}
