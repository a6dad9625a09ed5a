// The list of servers with their live state, those that need the person first; where there is none, the first steps.
//
// Owns what a line shows, and that it stays where the person has pressed. A line has the same height in every state, so that nothing
// moves under the pointer.

import { CodedError } from "../../../shared/protocol/codes.ts";
import type { Server } from "../../../shared/protocol/generated/messages.ts";
import { visible } from "../../../shared/text/visible.ts";
import { type Child, type VNode, h } from "../dom.ts";
import type { Hands, View } from "../hands.ts";
import { GROUP_WORDS, type Group, groupOf, grouped } from "../groups.ts";
import { iconOf } from "../icon.ts";
import { button, command, empty, failure, oneLine, waiting } from "../parts.ts";
import { type Part, hrefOf } from "../route.ts";
import { madeOf, standingOf, stateOf } from "../words.ts";

/** From so many servers on there is a search. */
const MANY = 8;

/** What the person has started or stopped since they came: it stays in its group. */
let held: { [server: string]: Group } = {};

export const servers: View<{ at: "servers" }> = {
  title: () => "Tools",
  enter() {
    held = {};
  },
  top: () => [
    h("strong", {}, "Tools"),
    h("span.space"),
    h("a.glyph.new", { href: hrefOf({ at: "add" }), id: "add-a-server", "aria-label": "Add a server", title: "Add a server" }),
  ],
  show(hands) {
    const { servers: list, bridge } = hands.state;
    if (list === undefined) return [bridge.state === "failed" ? undefined : waiting("Waiting for Harbor…")];
    if (list.length === 0) return first(hands);
    const wanted = hands.state.filter.trim().toLowerCase();
    const found = list.filter(({ server_id, label }) => `${server_id} ${label}`.toLowerCase().includes(wanted));
    return [
      h("h2.unseen", { tabindex: "-1", id: "title" }, "Your servers"),
      list.length > MANY ? filter(hands) : undefined,
      found.length === 0 ? empty("No server matches.") : h("div", { id: "server-list", key: "servers" }, ...groupsOf(hands, found)),
    ];
  },
};

function groupsOf(hands: Hands, found: Server[]): VNode[] {
  const names = found.map(({ label }) => label);
  const isTwice = ({ label }: Server) => names.indexOf(label) !== names.lastIndexOf(label);
  return grouped(found, hands.state.missing, held).map(([group, mine]) =>
    h(
      "section",
      { key: group, "data-group": group, "aria-labelledby": `group-${group}` },
      h("h3.group", { id: `group-${group}` }, GROUP_WORDS[group], h("span.many", {}, ` (${mine.length})`)),
      h("ul.rows", {}, ...mine.map((server) => row(hands, server, isTwice(server)))),
    ),
  );
}

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
      iconOf(name, source),
      h("div.what", {}, h("p.name", {}, name), h("p.words", {}, words)),
      h("a.primary", { href: hrefOf({ at: "install", source }), "aria-label": `Install ${name}` }, "Install"),
    );
  return [
    h("h2", { tabindex: "-1", id: "title" }, "No servers yet"),
    h("p.soft", {}, "A server gives your chats and AI apps tools. You see what it may do before it is installed."),
    h("ul.rows", {}, ...FEATURED.map(entry)),
    h("p.buttons", {}, h("a.action", { href: hrefOf({ at: "add" }) }, "Browse the catalog"), h("a.action", { href: hrefOf({ at: "new", kind: "command" }) }, "Paste a command or JSON")),
    h("h3", {}, "Already use Claude, Cursor or VS Code?"),
    h("p.soft", {}, "This takes over the servers that they have. Run it in a terminal:"),
    command("harbor import", hands),
  ];
}

/** `isTwice`: another server has the same name, so that only what it is made of tells them apart. */
function row(hands: Hands, server: Server, isTwice: boolean): VNode {
  const { server_id: id, label } = server;
  const { tone, words, wants } = standingOf(server, hands.state.missing[id]);
  const detail = wants === undefined ? oneLine(words) : h("a", { href: hrefOf({ at: "server", id, part: wantedPart(wants) }) }, oneLine(words));
  return h(
    "li.server",
    { key: id, "data-server": id },
    iconOf(label, id),
    h(
      "div.what",
      {},
      h("a.name.whole", { href: hrefOf({ at: "server", id, part: "overview" }), id: `server ${id}`, title: visible(madeOf(server)).text }, oneLine(label)),
      h("p.standing", { "data-tone": tone }, h("span.state", {}, stateOf(server)), words === "" ? undefined : h("span.words", {}, " · ", detail)),
      isTwice ? h("p.soft.made", {}, oneLine(madeOf(server))) : undefined,
    ),
    toggle(hands, server, visible(label).text, true),
    failure(hands, `run ${id}`),
    failure(hands, `stop ${id}`),
  );
}

/** A key is set, and a sign-in begun, on the first page; a change of tools is looked at among them. */
function wantedPart(wants: Part): Part {
  return wants === "tools" ? "tools" : "overview";
}

/** One button in one place: it starts what does not run, and stops what does. `asIcon`: beside a name, which it must not outweigh. */
export function toggle(hands: Hands, { server_id: id, state }: Server, name: string, asIcon = false): VNode {
  const stops = state === "running" || state === "starting" || state === "crashed";
  const action = stops ? "stop" : "start";
  const busy = state === "stopping" || state === "installing" || (hands.isBusy(`run ${id}`) && !stops);
  const [words, icon] = stops ? ["Stop", "■"] : state === "failed" ? ["Try again", "↻"] : ["Start", "▶"];
  const props = { key: "toggle", id: `${action} ${id}`, class: asIcon ? "small icon" : "small", title: asIcon ? words : undefined, "aria-label": `${words}: ${name}`, busy };
  return button(asIcon ? icon : words, () => run(hands, id, action), props);
}

export function run(hands: Hands, id: string, action: "start" | "stop" | "restart"): void {
  hands.hush();
  const server = hands.state.servers?.find(({ server_id }) => server_id === id);
  if (server !== undefined) held = { ...held, [id]: held[id] ?? groupOf(server, hands.state.missing) };
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
