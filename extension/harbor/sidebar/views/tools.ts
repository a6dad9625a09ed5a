// The tools of a server, and those of them that are not what they were when the person last saw them.
//
// Owns the question whether such a change is accepted. What is accepted is named by its hash: never anything unseen.

import { isFields } from "../../../shared/ports/wire.ts";
import type { ServerChange, ToolChange } from "../../../shared/protocol/generated/messages.ts";
import { visible } from "../../../shared/text/visible.ts";
import { PART_WORDS, changedParts } from "../diff.ts";
import { type VNode, h } from "../dom.ts";
import type { Hands, View } from "../hands.ts";
import { button, effectMark, empty, failure, notice, oneLine, waiting } from "../parts.ts";
import { type Route, hrefOf } from "../route.ts";
import type { Tool } from "../store.ts";
import { ofServer } from "./head.ts";

type Here = Extract<Route, { at: "server" }>;

export const tools: View<Here> = {
  title: (_, { id }) => `Tools of ${id}`,
  enter(hands, { id }, signal) {
    loadTools(hands, id, signal);
  },
  heard(hands, { id }, type, payload) {
    if ((type === "tools_changed" || type === "tool_changed") && payload["server_id"] === id) loadTools(hands, id);
  },
  show: (hands, { id }) => ofServer(hands, id, "tools", () => list(hands, id)),
};

/** Asks for the tools and for what has changed of them. */
export function loadTools(hands: Hands, id: string, left?: AbortSignal, loaded: () => void = () => undefined): void {
  hands.read(`tools ${id}`, async (signal) => {
    const [listed, { changes, servers: programs }] = await Promise.all([
      hands.ask("mcp_list_tools", { server_id: id }, { signal }),
      hands.ask("host_list_tool_changes", { server_id: id }, { signal }),
    ]);
    hands.learn(id, { tools: parseTools(listed.tools, listed.effects), lastListed: listed.last_listed === true, changes, programs });
    loaded();
  }, left);
}

/** Reads what a server wrote. */
export function parseTools(listed: unknown, effects: unknown = {}): Tool[] {
  if (!Array.isArray(listed)) return [];
  const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);
  return listed.filter(isFields).flatMap(({ name, title, description, inputSchema }) => {
    if (typeof name !== "string" || name === "") return [];
    return [{ name, title: text(title), description: text(description), inputSchema, effect: isFields(effects) ? text(effects[name]) : undefined }];
  });
}

function list(hands: Hands, id: string): (VNode | undefined)[] {
  const { tools: known, changes = [], programs = [], lastListed } = hands.state.detail ?? {};
  const failed = failure(hands, `tools ${id}`);
  if (known === undefined) return [failed, hands.isBusy(`tools ${id}`) ? waiting("Asking for its tools…") : undefined];
  const changed = new Set(changes.map(({ tool_name }) => tool_name));
  return [
    failed,
    h("div", {}, ...programs.map((change) => programOf(hands, change)), ...changes.map((change) => changeOf(hands, change))),
    lastListed === true ? h("p.soft", {}, "It is not running. These are the tools it listed last.") : undefined,
    ...listed(hands, id, known, changed),
  ];
}

/** Above so many tools there is a search. */
const MANY = 10;

function listed(hands: Hands, id: string, known: Tool[], changed: Set<string>): (VNode | undefined)[] {
  if (known.length === 0) return [empty("It has no tools.")];
  const wanted = (hands.state.detail?.wanted ?? "").trim().toLowerCase();
  const found = known.filter(({ name, title = "", description = "" }) => `${name} ${title} ${description}`.toLowerCase().includes(wanted));
  const input = ({ target }: Event) => hands.learn(id, { wanted: (target as HTMLInputElement).value });
  const words = `Search ${known.length} tools`;
  const props = { id: "tool-filter", type: "search", placeholder: words, "aria-label": words, autocomplete: "off", value: hands.state.detail?.wanted ?? "" };
  return [
    known.length > MANY ? h("div.search", { key: "search" }, h("input", { ...props, on: { input } })) : undefined,
    found.length === 0 ? empty("No tool matches.") : h("ul.rows.tools", { key: "tools" }, ...found.map((tool) => row(id, tool, changed.has(tool.name)))),
  ];
}

function row(id: string, { name, title, description, effect }: Tool, changed: boolean): VNode {
  const words = description ?? title;
  return h(
    "li",
    { key: name },
    h("a.name.mono", { href: hrefOf({ at: "tool", id, tool: name }), "data-tool": name }, oneLine(name)),
    " ",
    effectMark(effect),
    changed ? h("span.badge", {}, "changed") : undefined,
    words === undefined ? undefined : h("p.words", {}, oneLine(words)),
  );
}

function programOf(hands: Hands, { server_id, before, after: program }: ServerChange): VNode {
  const act = `accept ${server_id}`;
  const accept = () =>
    hands.act(act, async () => {
      await hands.ask("host_accept_server_change", { server_id, program });
      hands.say(`${server_id} is accepted`);
      loadTools(hands, server_id);
    });
  return notice(
    "warn",
    h("h3", {}, "This is not the program you allowed"),
    h("p", {}, "It was ", h("bdi.mono", {}, visible(before).text), ", and is ", h("bdi.mono", {}, visible(program).text), "."),
    h("p", {}, "No site can use it, and it gets no secrets, until you accept it."),
    h("p.buttons", {}, button("Accept this program", accept, { "data-accept": server_id, busy: hands.isBusy(act) })),
    failure(hands, act),
  );
}

function changeOf(hands: Hands, change: ToolChange): VNode {
  const { server_id, tool_name, tool_hash, blocked, hidden_characters: hidden } = change;
  const act = `accept ${server_id} ${tool_name}`;
  const name = visible(tool_name).text;
  const accept = () =>
    hands.act(act, async () => {
      await hands.ask("host_accept_tool_change", { server_id, tool_name, tool_hash });
      hands.say(`${name} is accepted`);
      loadTools(hands, server_id);
    });
  const parts = changedParts(change.before, change.after).map(({ part, lines }) =>
    h(
      "div",
      { key: part },
      h("h4", {}, PART_WORDS[part]),
      h("pre.diff", { tabindex: "0", role: "region", "aria-label": `What changed in ${name}: ${PART_WORDS[part]}` }, ...lines.map(lineOf)),
    ),
  );
  return h(
    "div.change",
    { key: `${tool_name} ${tool_hash}` },
    notice(
      "warn",
      h("h3", {}, h("bdi.mono", {}, name), " has changed"),
      h("p", {}, blocked ? "No site can use it until you accept the change. To keep it blocked, do nothing." : "Sites can still use it, as your configuration says."),
      hidden ? h("p", {}, "Its texts have invisible characters. They are shown as codes here.") : undefined,
      ...(parts.length > 0 ? parts : [h("p", {}, "The change cannot be shown here.")]),
      h("p.buttons", {}, button("Accept the change", accept, { "data-accept": tool_name, busy: hands.isBusy(act) })),
      failure(hands, act),
    ),
  );
}

function lineOf({ sign, text }: { sign: string; text: string }): VNode {
  const said = sign === "-" ? "before" : sign === "+" ? "now" : "";
  return h("span.line", { "data-sign": sign }, said === "" ? undefined : h("span.unseen", {}, `${said}: `), `${sign} ${visible(text).whole ?? visible(text).text}\n`);
}
