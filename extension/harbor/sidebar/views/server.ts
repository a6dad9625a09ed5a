// The first part of what is shown of a server: what keeps it from working, what it can do, what it is, and its removal.
//
// Owns the question before a removal.

import type { Server } from "../../../shared/protocol/generated/messages.ts";
import { visible } from "../../../shared/text/visible.ts";
import { isLazy, lazyWords } from "../../lazy.ts";
import { type Child, type VNode, h } from "../dom.ts";
import type { Hands, View } from "../hands.ts";
import { button, command, facts, failure, foreign, notice } from "../parts.ts";
import { mayWords, reachWords } from "../plan.ts";
import type { Route } from "../route.ts";
import { timeWords } from "../words.ts";
import { fixOf } from "./fix.ts";
import { ofServer } from "./head.ts";
import { run } from "./servers.ts";

type Here = Extract<Route, { at: "server" }>;

export const overview: View<Here> = {
  title: (_, { id }) => id,
  enter: (hands, { id }, signal) => look(hands, id, signal),
  heard(hands, { id }, type) {
    if (type === "servers") look(hands, id);
  },
  show: (hands, { id }) =>
    ofServer(hands, id, "overview", (server) => [
      failure(hands, `run ${id}`),
      failure(hands, `stop ${id}`),
      ...fixOf(hands, server),
      maySaid(hands, server),
      lazily(hands, server),
      h("details", { key: "details", id: "details", open: server.state === "failed" }, h("summary", {}, "Details"), aboutIt(server)),
      sandboxHelp(hands, server),
      removal(hands, server),
    ]),
};

/** Reads what its line does not say. */
function look(hands: Hands, id: string, left?: AbortSignal): void {
  hands.read(`status ${id}`, async (signal) => {
    const { why_not, server } = await hands.ask("get_server_status", { server_id: id }, { signal });
    const held = server.remote === undefined ? await hands.ask("get_sandbox", { server_id: id }, { signal }) : undefined;
    hands.learn(id, { whyNot: why_not, sandbox: held?.sandbox });
  }, left);
}

/** Whether a call starts it. */
function lazily(hands: Hands, server: Server): Child {
  const { server_id: id } = server;
  const act = `lazy ${id}`;
  const busy = hands.isBusy(act);
  const turn = () =>
    hands.act(act, async () => {
      const { server: now } = await hands.ask("set_supervision", { server_id: id, supervision: { lazy: !isLazy(server) } });
      hands.change({ servers: hands.state.servers?.map((one) => (one.server_id === id ? now : one)) });
    });
  const props = { id: act, class: "switch", role: "switch", "aria-checked": String(isLazy(server)), "aria-describedby": "lazy-about", busy };
  return h(
    "div",
    { key: "lazy" },
    button("Start automatically when used", turn, props),
    h("p.about", { id: "lazy-about" }, lazyWords(server)),
    failure(hands, act),
  );
}

function aboutIt(server: Server): VNode {
  const { remote, image, command: program, args, package: installed, sandbox, since, restarts, protocol_version: revision, env_names } = server;
  return facts([
    ["Name", server.server_id],
    ["Since", timeWords(since)],
    installed === undefined ? undefined : ["Package", foreign(installed)],
    image === undefined ? undefined : ["Image", foreign(image.reference)],
    remote === undefined ? undefined : ["Runs at", foreign(remote.url)],
    program === "" ? undefined : ["Command", foreign([program, ...args].join(" "))],
    env_names.length === 0 ? undefined : ["Variables", foreign(env_names.join(", "))],
    (sandbox?.missing.length ?? 0) === 0 ? undefined : ["Not enforced here", foreign(sandbox?.missing.join(" ") ?? "")],
    revision === undefined ? undefined : ["MCP", revision],
    restarts === 0 ? undefined : ["Restarts", String(restarts)],
  ]);
}

/** Nothing before it is known: a list of what it can't do is only true if it is whole. */
function maySaid(hands: Hands, { remote }: Server): Child {
  const { sandbox } = hands.state.detail ?? {};
  const words = remote !== undefined ? mayWords({ kind: "remote" }) : sandbox === undefined ? undefined : foreign(reachWords(sandbox));
  return words === undefined ? undefined : facts([["Sandbox", words]]);
}

/** The panel sets no sandbox: it says which command does. */
function sandboxHelp(hands: Hands, { server_id: id, sandbox, remote }: Server): Child {
  if (sandbox === undefined || remote !== undefined) return undefined;
  return h("div", { key: "sandbox" }, h("p.soft", {}, "See or change what it can do:"), command(`harbor sandbox ${id}`, hands));
}

/** The question, in the place of the button that asks it. */
function removal(hands: Hands, { server_id: id, label, state }: Server): Child {
  const asked = hands.state.detail?.removing === true;
  const name = visible(label).text;
  if (!asked) {
    const ask = () => hands.learn(id, { removing: true });
    const again = { id: `restart ${id}`, class: "quiet", "aria-label": `Restart: ${name}`, busy: hands.isBusy(`run ${id}`) };
    const restart = state === "running" ? button("Restart", () => run(hands, id, "restart"), again) : undefined;
    return h("section.removal", { key: "button" }, restart, button("Remove this server…", ask, { id: "remove", class: "quiet danger" }));
  }
  const keeps = button("Keep it", () => hands.learn(id, { removing: false }), { id: "keep" });
  const goes = button("Remove", () => remove(hands, id), { id: "remove-yes", class: "danger", busy: hands.isBusy(`remove ${id}`) });
  return h(
    "section.removal",
    { key: "question", "aria-label": `Remove ${name}?` },
    notice(
      "bad",
      h("h3", {}, "Remove ", h("bdi", {}, name), "?"),
      h("p", {}, "This stops it and deletes its definition and secrets."),
      h("label.check", {}, h("input", { type: "checkbox", id: "remove-data" }), " Also delete the files it stored"),
      h("p.buttons", {}, keeps, goes),
      failure(hands, `remove ${id}`),
    ),
  );
}

function remove(hands: Hands, id: string): void {
  const data = (document.getElementById("remove-data") as HTMLInputElement | null)?.checked === true;
  hands.act(`remove ${id}`, async () => {
    const { data: kept } = await hands.ask("remove_server", { server_id: id, data });
    hands.go({ at: "servers" }, kept === undefined ? `${id} is removed` : `${id} is removed. Its files are still in ${visible(kept).text}`);
  });
}
