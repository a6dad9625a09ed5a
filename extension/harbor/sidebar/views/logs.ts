// The log of a server, followed line by line as it comes.
//
// Owns how many lines are kept. What an installer printed is shown only when the person wants it: it is pages before the one line of
// interest. Must never ask for lines again that were pushed: what was asked for once is followed.

import type { LogLine } from "../../../shared/protocol/generated/messages.ts";
import { visible } from "../../../shared/text/visible.ts";
import { type VNode, h } from "../dom.ts";
import type { Hands, View } from "../hands.ts";
import { button, copyButton, failure, waiting } from "../parts.ts";
import type { Route } from "../route.ts";
import { count } from "../words.ts";
import { ofServer } from "./head.ts";

type Here = Extract<Route, { at: "server" }>;

/** Lines that are asked for at first, and that are kept. */
const FIRST = 300;
const MOST = 1_000;

export const logs: View<Here> = {
  title: (_, { id }) => `Log of ${id}`,
  enter(hands, { id }, signal) {
    hands.act(`logs ${id}`, async (mine) => {
      const { logs: first } = await hands.ask("mcp_get_logs", { server_id: id, limit: FIRST, follow: true }, { signal: mine });
      hands.learn(id, { logs: first });
    }, signal);
    signal.addEventListener("abort", () => {
      // What comes until it is followed again is in the answer then.
      hands.learn(id, { logs: undefined });
      void hands.ask("mcp_get_logs", { server_id: id, follow: false }).catch(() => undefined);
    });
  },
  heard(hands, { id }, type, payload) {
    const { detail } = hands.state;
    if (type !== "server_log" || detail?.id !== id || detail.logs === undefined) return;
    hands.learn(id, { logs: added(detail.logs, payload as unknown as LogLine) });
  },
  show: (hands, { id }) => ofServer(hands, id, "logs", () => [failure(hands, `logs ${id}`), list(hands, id)]),
};

/** One more line; the oldest ones go. */
export function added(known: LogLine[], line: LogLine): LogLine[] {
  return [...known.slice(Math.max(0, known.length - MOST + 1)), line];
}

/** The lines as text, for other programs. */
export function asText(known: LogLine[]): string {
  const line = ({ timestamp, source, level, text }: LogLine) => `${new Date(timestamp).toISOString()} ${level ?? source} ${text}`;
  return known.map(line).join("\n");
}

function list(hands: Hands, id: string): VNode {
  const { logs: known, installing } = hands.state.detail ?? {};
  if (known === undefined) return waiting("Loading the log…");
  const shown = installing === true ? known : withoutInstaller(known);
  const hidden = known.length - withoutInstaller(known).length;
  const turn = () => hands.learn(id, { installing: installing !== true });
  return h(
    "div.log",
    {},
    h(
      "div.head",
      {},
      h("p.soft", {}, shown.length === 0 ? "Nothing logged yet" : count(shown.length, "line")),
      hidden === 0 ? undefined : button(installing === true ? "Hide installation" : `Show installation (${count(hidden, "line")})`, turn, { id: "installing", class: "quiet" }),
      copyButton(() => asText(shown), "Copy the log", hands),
    ),
    h("ol", { tabindex: "0", "data-stick": "end", "aria-label": `Log of ${id}` }, ...shown.map(row)),
  );
}

/** What the server and Harbor have said. */
export function withoutInstaller(known: LogLine[]): LogLine[] {
  return known.filter(({ source }) => source !== "install");
}

const rows = new WeakMap<LogLine, VNode>();
let lastKey = 0;

/** A line is described once: it never changes. */
function row(line: LogLine): VNode {
  const known = rows.get(line);
  if (known !== undefined) return known;
  lastKey += 1;
  const { timestamp, source, level, text } = line;
  const time = new Date(timestamp);
  const { text: shown, whole } = visible(text);
  const made = h(
    "li",
    { key: String(lastKey), "data-source": source, "data-level": level },
    h("time", { datetime: time.toISOString() }, time.toLocaleTimeString("en-GB")),
    " ",
    h("span.source", {}, level ?? source),
    " ",
    h("bdi", { dir: "auto" }, whole ?? shown),
  );
  rows.set(line, made);
  return made;
}
