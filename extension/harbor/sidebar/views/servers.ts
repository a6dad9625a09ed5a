// The list of servers with their live state.
//
// Owns the order of what a line shows. A line has the same height in every state, so that nothing moves under the pointer.

import { CodedError } from "../../../shared/protocol/codes.ts";
import type { Server } from "../../../shared/protocol/generated/messages.ts";
import { visible } from "../../../shared/text/visible.ts";
import { type VNode, h } from "../dom.ts";
import type { Hands, View } from "../hands.ts";
import { button, empty, failure, oneLine, waiting } from "../parts.ts";
import { hrefOf } from "../route.ts";
import { standingOf, stateOf } from "../words.ts";

export const servers: View<{ at: "servers" }> = {
  title: () => "Servers",
  show(hands) {
    const { servers: list, bridge } = hands.state;
    if (list === undefined) return [bridge.state === "failed" ? undefined : waiting("Waiting for Harbor…")];
    if (list.length > 0) return [h("ul.rows", { id: "servers" }, ...list.map((server) => row(hands, server)))];
    return [empty("There is no server yet."), h("p", {}, h("a.primary", { href: hrefOf({ at: "add" }) }, "Find one"))];
  },
};

function row(hands: Hands, server: Server): VNode {
  const { server_id: id, label } = server;
  const { tone, words, wants } = standingOf(server, hands.state.missing[id]);
  const detail = wants === undefined ? oneLine(words) : h("a", { href: hrefOf({ at: "server", id, part: wants }) }, oneLine(words));
  return h(
    "li.server",
    { key: id },
    h(
      "div.what",
      {},
      h("a.name", { href: hrefOf({ at: "server", id, part: "overview" }), id: `server ${id}` }, oneLine(label)),
      h("p.standing", { "data-tone": tone }, h("span.state", {}, stateOf(server)), words === "" ? undefined : h("span.words", {}, " · ", detail)),
    ),
    toggle(hands, server, visible(label).text),
    failure(hands, `run ${id}`),
    failure(hands, `stop ${id}`),
  );
}

/** One button in one place: it starts what does not run, and stops what does. */
export function toggle(hands: Hands, { server_id: id, state }: Server, name: string): VNode {
  const stops = state === "running" || state === "starting" || state === "crashed";
  const action = stops ? "stop" : "start";
  const busy = state === "stopping" || state === "installing" || (hands.isBusy(`run ${id}`) && !stops);
  const props = { key: "toggle", id: `${action} ${id}`, class: "small", "aria-label": `${action} ${name}`, busy };
  return button(stops ? "Stop" : "Start", () => run(hands, id, action), props);
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
