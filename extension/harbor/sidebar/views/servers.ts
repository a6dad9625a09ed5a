// The list of servers with their live state; where there is none, the first steps.
//
// Owns the order of what a line shows. A line has the same height in every state, so that nothing moves under the pointer.

import { CodedError } from "../../../shared/protocol/codes.ts";
import type { Server } from "../../../shared/protocol/generated/messages.ts";
import { visible } from "../../../shared/text/visible.ts";
import { type Child, type VNode, h } from "../dom.ts";
import type { Hands, View } from "../hands.ts";
import { button, command, empty, failure, oneLine, waiting } from "../parts.ts";
import { hrefOf } from "../route.ts";
import { madeOf, standingOf, stateOf } from "../words.ts";

/** From so many servers on there is a search. */
const MANY = 8;

export const servers: View<{ at: "servers" }> = {
  title: () => "Servers",
  show(hands) {
    const { servers: list, bridge } = hands.state;
    if (list === undefined) return [bridge.state === "failed" ? undefined : waiting("Waiting for Harbor…")];
    if (list.length === 0) return first(hands);
    const wanted = hands.state.filter.trim().toLowerCase();
    const found = list.filter(({ server_id, label }) => `${server_id} ${label}`.toLowerCase().includes(wanted));
    return [
      list.length > MANY ? filter(hands) : undefined,
      found.length === 0 ? empty("No server matches.") : h("ul.rows", { id: "server-list", key: "servers" }, ...found.map((server) => row(hands, server))),
    ];
  },
};

function filter(hands: Hands): VNode {
  const input = ({ target }: Event) => hands.change({ filter: (target as HTMLInputElement).value });
  const props = { id: "filter", type: "search", placeholder: "Search your servers", "aria-label": "Search your servers", autocomplete: "off", value: hands.state.filter };
  return h("div.search", { key: "filter" }, h("input", { ...props, on: { input } }));
}

/** Of Harbor's own list: they need no key and nothing to be filled in. */
const FEATURED = [
  ["time", "Time", "Tells the time in any time zone."],
  ["fetch", "Fetch", "Reads web pages as text."],
  ["memory", "Memory", "Remembers facts between conversations."],
] as const;

/** Where there is no server yet. */
function first(hands: Hands): Child[] {
  const entry = ([source, name, words]: (typeof FEATURED)[number]) =>
    h(
      "li.server.featured",
      { key: source },
      initials(name),
      h("div.what", {}, h("p.name", {}, name), h("p.words", {}, words)),
      h("a.action", { href: hrefOf({ at: "install", source }), "aria-label": `Install ${name}` }, "Install"),
    );
  return [
    h("h2", {}, "No servers yet"),
    h("p.soft", {}, "A server gives tools to your AI clients and, if you allow it, to web pages."),
    h("ul.rows", {}, ...FEATURED.map(entry)),
    h("p.buttons", {}, h("a.primary", { href: hrefOf({ at: "add" }) }, "Browse the catalog")),
    h("h3", {}, "Already use Claude, Cursor or VS Code?"),
    h("p.soft", {}, "Import the servers that they have. Run in a terminal:"),
    command("harbor import", hands),
  ];
}

/** In the place of an icon: servers bring none that could be trusted. */
function initials(label: string): VNode {
  const [one = "", two = ""] = visible(label).text.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "");
  return h("span.initials", { "aria-hidden": "true" }, (one.slice(0, 1) + (two.slice(0, 1) || one.slice(1, 2))).toUpperCase());
}

function row(hands: Hands, server: Server): VNode {
  const { server_id: id, label } = server;
  const { tone, words, wants } = standingOf(server, hands.state.missing[id]);
  const detail = wants === undefined ? oneLine(words) : h("a", { href: hrefOf({ at: "server", id, part: wants }) }, oneLine(words));
  return h(
    "li.server",
    { key: id },
    initials(label),
    h(
      "div.what",
      {},
      h("a.name.whole", { href: hrefOf({ at: "server", id, part: "overview" }), id: `server ${id}` }, oneLine(label)),
      h("p.standing", { "data-tone": tone }, h("span.state", {}, stateOf(server)), words === "" ? undefined : h("span.words", {}, " · ", detail)),
      h("p.soft.made", {}, oneLine(madeOf(server))),
    ),
    toggle(hands, server, visible(label).text, true),
    failure(hands, `run ${id}`),
    failure(hands, `stop ${id}`),
  );
}

/** One button in one place: it starts what does not run, and stops what does. `asIcon`: beside a name, which it must not outweigh. */
export function toggle(hands: Hands, { server_id: id, state }: Server, name: string, asIcon = false): VNode {
  const stops = state === "running" || state === "starting" || state === "crashed";
  const action = stops ? "stop" : "start";
  const busy = state === "stopping" || state === "installing" || (hands.isBusy(`run ${id}`) && !stops);
  const [words, icon] = stops ? ["Stop", "■"] : ["Start", "▶"];
  const props = { key: "toggle", id: `${action} ${id}`, class: asIcon ? "small icon" : "small", title: asIcon ? words : undefined, "aria-label": `${action} ${name}`, busy };
  return button(asIcon ? icon : words, () => run(hands, id, action), props);
}

export function run(hands: Hands, id: string, action: "start" | "stop" | "restart"): void {
  hands.hush();
  // A stop ends a start that is under way, and is no failure of it.
  if (action === "stop") hands.cancel(`run ${id}`);
  hands.act(action === "stop" ? `stop ${id}` : `run ${id}`, async (signal) => {
    if (action === "stop") await hands.ask("disconnect_server", { server_id: id });
    else await start(hands, id, action === "restart", signal);
  });
}

async function start(hands: Hands, id: string, restart: boolean, signal: AbortSignal): Promise<void> {
  try {
    await hands.ask("connect_server", { server_id: id, ...(restart ? { restart } : {}) }, { signal });
  } catch (error) {
    // Its line says why it does not run: nothing more has to move.
    if (!(error instanceof CodedError) || error.code !== "connection_failed") throw error;
    hands.say(`${id} could not be started`);
  }
}
