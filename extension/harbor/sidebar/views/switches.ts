// The servers and browsers that an AI client may use, each with a switch.
//
// Must never switch for a client that was given nothing: its first tools are given elsewhere.

import { CLIENT_TOOLS, browsersOf, coverOf, isClient, switched, toolsOf } from "../clients.ts";
import { type Child, type VNode, h } from "../dom.ts";
import type { Hands } from "../hands.ts";
import { button, failure } from "../parts.ts";
import { hostOf } from "../site.ts";
import { count } from "../words.ts";

export function switchesOf(hands: Hands, origin: string): Child[] {
  const tools = toolsOf(origin, hands.state.grants ?? []);
  const servers = (hands.state.servers ?? []).map(({ server_id }) => server_id);
  const all = [...servers, ...browsersOf(tools ?? [], hands.state.browser?.source)];
  if (!isClient(origin) || tools === undefined || all.length === 0) return [];
  return [
    h("h3", {}, "Tools it may use"),
    h("ul.switches", {}, ...all.map((server) => rowOf(hands, origin, { tools, servers, server }))),
    tools.includes("*") ? h("p.soft", {}, "Also servers that you add later, until you switch one off.") : undefined,
  ];
}

/** No server can have a browser's name. */
function nameOf(source: string): string {
  const [kind, name] = source.split(":");
  if (kind !== "browser") return source;
  return name === undefined ? "Browser tools" : `Browser tools (${name})`;
}

function rowOf(hands: Hands, origin: string, { tools, servers, server }: { tools: string[]; servers: string[]; server: string }): VNode {
  const act = `switch ${origin} ${server}`;
  const cover = coverOf(tools, server);
  const isOn = cover !== 0;
  const change = () =>
    hands.act(act, async () => {
      await hands.own(CLIENT_TOOLS, { origin, tools: switched(tools, servers, server, !isOn) });
      hands.say(`${nameOf(server)}: ${isOn ? "off" : "on"} for ${hostOf(origin)}`);
    });
  const props = { class: "switch", role: "switch", "aria-checked": String(isOn), "data-switch": server, busy: hands.isBusy(act) };
  return h("li", { key: server }, button(nameOf(server), change, props), cover === "all" || cover === 0 ? undefined : h("span.soft", {}, count(cover, "tool")), failure(hands, act));
}
