// The first part of what is shown of a server: how it does, what it is, and its removal.
//
// Owns the question before a removal. What became of the server's last life comes first, with what to do.

import type { Exit, Server } from "../../../shared/protocol/generated/messages.ts";
import { visible } from "../../../shared/text/visible.ts";
import { isLazy, lazyWords } from "../../lazy.ts";
import { type Child, type VNode, h } from "../dom.ts";
import type { Hands, View } from "../hands.ts";
import { button, command, facts, failure, foreign, lines, notice, prose, told } from "../parts.ts";
import { mayWords, reachWords } from "../plan.ts";
import { type Route, hrefOf } from "../route.ts";
import { wordsOfEnd } from "../whose.ts";
import { afterEnd, missingProgram, missingWords, standingOf, timeWords } from "../words.ts";
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
      wish(hands, server),
      lastEnd(hands, server),
      cannotStart(hands, server),
      restart(hands, server),
      lazily(hands, server),
      h("h3", {}, "Details"),
      aboutIt(hands, server),
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

/** What it wants of the person. */
function wish(hands: Hands, server: Server): Child {
  const { wants, words } = standingOf(server, hands.state.missing[server.server_id]);
  if (wants === undefined) return undefined;
  const go = wants === "tools" ? "Review the change" : words.startsWith("Set ") ? "Set it" : "Sign in";
  return notice("warn", h("p", {}, foreign(words)), h("a.action", { href: hrefOf({ at: "server", id: server.server_id, part: wants }) }, go));
}

function lastEnd(hands: Hands, server: Server): Child {
  const { server_id: id, last_exit: end, state, next_retry } = server;
  if (end === undefined || end.cause === "stopped" || state === "starting") return undefined;
  const over = state === "running" || state === "stopped";
  // What it wants says why, too; and what it has got since.
  const missing = hands.state.missing[id];
  if (!over && (standingOf(server, missing).wants !== undefined || (end.cause === "missing_secrets" && missing?.length === 0))) return undefined;
  return notice(
    over ? "idle" : "bad",
    h("h3", {}, over ? `Last failure, ${timeWords(end.timestamp)}` : "Why it is not running"),
    ...whyEnded(id, end, over),
    next_retry === undefined || state !== "crashed" ? undefined : h("p", {}, `Next try at ${timeWords(next_retry)}.`),
    end.stderr_tail === undefined || end.stderr_tail === ""
      ? undefined
      : h("details", {}, h("summary", {}, "Last output"), lines(end.stderr_tail, "Last output")),
  );
}

/** `over`: it is past, and nothing is to be done. */
function whyEnded(id: string, end: Exit, over: boolean): Child[] {
  const [said, program] = [told(wordsOfEnd(end)), missingProgram(end)];
  if (program === undefined) return [h("p", {}, ...said), over ? undefined : h("p", {}, ...prose(afterEnd(end, id)))];
  return [
    h("p", {}, "The program ", foreign(program), ` ${missingWords(program)}.`),
    over ? undefined : h("p", {}, "Install it, then start the server; or remove the server and add it with another command."),
    h("details", { key: "details" }, h("summary", {}, "Details"), h("p", {}, ...said)),
  ];
}

/** What is known to keep it from its next start, where its last end does not say that. */
function cannotStart(hands: Hands, server: Server): Child {
  const { state, last_exit, server_id: id } = server;
  const { whyNot } = hands.state.detail ?? {};
  const said = whyNot === last_exit?.message || standingOf(server, hands.state.missing[id]).wants !== undefined;
  if (whyNot === undefined || said || (state !== "stopped" && state !== "failed")) return undefined;
  return notice("warn", h("h3", {}, "Why it cannot start"), h("p", {}, ...told({ whose: "mixed", text: whyNot })));
}

/** Always there, so that what is below stays where it is. */
function restart(hands: Hands, { server_id: id, state, label }: Server): Child {
  const busy = state !== "running" || hands.isBusy(`run ${id}`);
  const props = { id: `restart ${id}`, "aria-label": `restart ${visible(label).text}`, busy };
  return h("p", {}, button("Restart", () => run(hands, id, "restart"), props));
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

function aboutIt(hands: Hands, server: Server): VNode {
  const { remote, image, command: program, args, package: installed, sandbox, since, restarts, protocol_version: revision, env_names } = server;
  return facts([
    ["Name", server.server_id],
    ["Since", timeWords(since)],
    installed === undefined ? undefined : ["Package", foreign(installed)],
    image === undefined ? undefined : ["Image", foreign(image.reference)],
    remote === undefined ? undefined : ["Runs at", foreign(remote.url)],
    program === "" ? undefined : ["Command", foreign([program, ...args].join(" "))],
    env_names.length === 0 ? undefined : ["Variables", foreign(env_names.join(", "))],
    maySaid(hands, server),
    (sandbox?.missing.length ?? 0) === 0 ? undefined : ["Not enforced here", foreign(sandbox?.missing.join(" ") ?? "")],
    revision === undefined ? undefined : ["MCP", revision],
    restarts === 0 ? undefined : ["Restarts", String(restarts)],
  ]);
}

/** Nothing before it is known: a list of what it can't do is only true if it is whole. */
function maySaid(hands: Hands, { remote }: Server): readonly [string, Child] | undefined {
  const { sandbox } = hands.state.detail ?? {};
  if (remote !== undefined) return ["Sandbox", mayWords({ kind: "remote" })];
  return sandbox === undefined ? undefined : ["Sandbox", foreign(reachWords(sandbox))];
}

/** The panel sets no sandbox: it says which command does. */
function sandboxHelp(hands: Hands, { server_id: id, sandbox, remote }: Server): Child {
  if (sandbox === undefined || remote !== undefined) return undefined;
  return h("div", { key: "sandbox" }, h("p.soft", {}, "See or change what it can do:"), command(`harbor sandbox ${id}`, hands));
}

/** The question, in the place of the button that asks it. */
function removal(hands: Hands, { server_id: id, label }: Server): Child {
  const asked = hands.state.detail?.removing === true;
  const name = visible(label).text;
  if (!asked) {
    const ask = () => hands.learn(id, { removing: true });
    return h("section.removal", { key: "button" }, button("Remove this server…", ask, { id: "remove", class: "quiet danger" }));
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
