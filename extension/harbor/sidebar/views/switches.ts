// The servers and browsers that an AI client may use, each with a switch, and within them single tools.
//
// Must never switch for a client that was given nothing: its first tools are given elsewhere.

import { visible } from "../../../shared/text/visible.ts";
import { CLIENT_TOOLS, browsersOf, coverOf, isClient, switched, switchedTool, toolsOf } from "../clients.ts";
import { type Child, type VNode, h } from "../dom.ts";
import type { Hands } from "../hands.ts";
import { button, effectMark, failure } from "../parts.ts";
import { hostOf } from "../site.ts";
import type { Tool } from "../store.ts";
import { count } from "../words.ts";
import { parseTools } from "./tools.ts";

export function switchesOf(hands: Hands, origin: string): Child[] {
  const tools = toolsOf(origin, hands.state.grants ?? []);
  const servers = (hands.state.servers ?? []).map(({ server_id }) => server_id);
  const all = [...servers, ...browsersOf(tools ?? [], hands.state.browser?.source)];
  if (!isClient(origin) || tools === undefined || all.length === 0) return [];
  return [
    h("h3.group", {}, "Tools it may use"),
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

interface Switched {
  tools: string[];
  servers: string[];
  server: string;
}

function rowOf(hands: Hands, origin: string, of: Switched): VNode {
  const { tools, servers, server } = of;
  const act = `switch ${origin} ${server}`;
  const cover = coverOf(tools, server);
  const isOn = cover !== 0;
  const many = hands.state.servers?.find(({ server_id }) => server_id === server)?.tool_count;
  const change = () => set(hands, act, origin, switched(tools, servers, server, !isOn), `${nameOf(server)}: ${isOn ? "off" : "on"} for ${hostOf(origin)}`);
  const props = { class: "switch", role: "switch", "aria-checked": String(isOn), "data-switch": server, busy: hands.isBusy(act) };
  return h("li", { key: server }, button(nameOf(server), change, props), h("span.soft", {}, coverWords(cover, many)), ...(servers.includes(server) ? singlesOf(hands, origin, of) : []), failure(hands, act));
}

function coverWords(cover: "all" | number, many: number | undefined): string {
  if (cover === 0) return "";
  if (cover === "all") return many === undefined ? "all its tools" : many === 1 ? "its 1 tool" : `all ${many} tools`;
  return many === undefined ? count(cover, "tool") : `${cover} of ${count(many, "tool")}`;
}

/** Whose single tools the person has opened. */
const opened = new Set<string>();

/** The tools of one server, each with a switch; asked for when they are opened. */
function singlesOf(hands: Hands, origin: string, of: Switched): Child[] {
  const { server } = of;
  const isOpen = opened.has(server);
  const act = `offered ${server}`;
  const turn = () => {
    if (!opened.delete(server)) opened.add(server);
    hands.change({});
    if (isOpen) return;
    hands.read(act, async (signal) => {
      const { tools: listed, effects } = await hands.ask("mcp_list_tools", { server_id: server }, { signal });
      hands.change({ offered: { ...hands.state.offered, [server]: parseTools(listed, effects) } });
    }, hands.here);
  };
  const props = { class: "quiet opens", key: "opens", "data-singles": server, "aria-expanded": String(isOpen), "aria-label": `Choose single tools of ${server}` };
  return [button("Choose", turn, props), failure(hands, act), isOpen ? h("div.singles", { key: "singles" }, ...listOf(hands, origin, of)) : undefined];
}

function listOf(hands: Hands, origin: string, { tools, servers, server }: Switched): Child[] {
  const known = hands.state.offered[server];
  if (known === undefined) return hands.isBusy(`offered ${server}`) ? [h("p.soft", {}, "Asking for its tools…")] : [];
  if (known.length === 0) return [h("p.soft", {}, "It has no tools.")];
  const all = known.map(({ name }) => `${server}/${name}`);
  const one = ({ name, effect }: Tool) => {
    const tool = `${server}/${name}`;
    const isOn = coverOf(tools, server) === "all" || tools.includes(tool);
    const [act, words] = [`switch ${origin} ${tool}`, visible(name).text];
    const change = () => set(hands, act, origin, switchedTool(tools, servers, tool, all, !isOn), `${words}: ${isOn ? "off" : "on"} for ${hostOf(origin)}`);
    const props = { class: "switch mono", role: "switch", "aria-checked": String(isOn), "data-switch": tool, busy: hands.isBusy(act) };
    return h("li", { key: name }, button(words, change, props), effectMark(effect), failure(hands, act));
  };
  return [h("ul.switches", {}, ...known.map(one))];
}

function set(hands: Hands, act: string, origin: string, tools: string[], said: string): void {
  hands.act(act, async () => {
    await hands.own(CLIENT_TOOLS, { origin, tools });
    hands.say(said);
  });
}
