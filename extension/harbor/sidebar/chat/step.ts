// A step of a turn: one quiet line, which opens to what was sent and what came.
//
// Owns how a call is shown. What a tool says is a foreign text. Must never call a step done that has no result.

import type { Server } from "../../../shared/protocol/generated/messages.ts";
import { type Child, type VNode, h } from "../dom.ts";
import type { Hands } from "../hands.ts";
import { copyButton, facts, lines, oneLine } from "../parts.ts";
import { hrefOf } from "../route.ts";
import { questionList } from "../views/questions.ts";
import type { Step } from "./transcript.ts";

const STATE_WORDS = { running: "running", asked: "waits for your yes", done: "done", failed: "failed" } as const;

export function stepLine(hands: Hands, step: Step): VNode {
  const asked = (hands.state.approvals?.open ?? []).filter(({ session_id, call_id }) => session_id === hands.state.chat?.id && call_id === step.call);
  const state = step.state === "running" && asked.some((one) => one.state === "waiting") ? "asked" : step.state;
  const [source, tool] = namesOf(step.tool);
  return h(
    "div.step",
    { "data-state": state, "data-call": step.call },
    h(
      "details",
      {},
      h(
        "summary",
        {},
        h("span.state", { "aria-hidden": "true" }),
        h("span.name", {}, ...(source === undefined ? [] : [oneLine(source), " · "]), oneLine(tool)),
        h("span.unseen", {}, ` ${STATE_WORDS[state]}`),
        step.ms === undefined ? undefined : h("span.soft", {}, timeOf(step.ms)),
      ),
      opened(hands, step, source),
    ),
    asked.length === 0 ? undefined : questionList(hands, asked),
  );
}

function opened(hands: Hands, step: Step, source: string | undefined): VNode {
  const sent = sentBy(step);
  const server = hands.state.servers?.find(({ server_id }) => server_id === source);
  return h(
    "div.opened",
    {},
    facts([
      source === undefined ? undefined : ["Server", server === undefined ? oneLine(source) : h("a", { href: hrefOf({ at: "server", id: server.server_id, part: "overview" }) }, oneLine(server.label))],
      server === undefined ? undefined : ["Sandbox", sandboxWords(server)],
      ["State", STATE_WORDS[step.state]],
    ]),
    h("h4", {}, sent.label),
    lines(sent.text, sent.label),
    ...resultOf(hands, step),
  );
}

/** What was sent, as it is read best: a script as its lines. */
function sentBy({ tool, arguments: sent }: Step): { label: string; text: string } {
  const script = tool === "run_script" ? (sent as { script?: unknown } | undefined)?.script : undefined;
  return typeof script === "string" ? { label: "Script", text: script } : { label: "Arguments", text: JSON.stringify(sent ?? {}, null, 2) };
}

function resultOf(hands: Hands, { result, state }: Step): Child[] {
  if (result === undefined) return [];
  return [
    h("h4", {}, state === "failed" ? "Why it failed" : "Result", copyButton(() => result, "Copy the result", hands)),
    result === "" ? h("p.soft", {}, "Nothing.") : lines(result, "Result", 20_000),
  ];
}

/** `server/tool` in its parts; a name without a `/` is shown whole. */
function namesOf(name: string): readonly [string | undefined, string] {
  const at = name.indexOf("/");
  return at < 0 ? [undefined, name] : [name.slice(0, at), name.slice(at + 1)];
}

/** What its sandbox keeps a server from, as the bridge knows it since its last start. */
function sandboxWords({ remote, sandbox }: Server): string {
  if (remote !== undefined) return "Runs on another machine and sees only the arguments";
  if (sandbox === undefined) return "Not known: it has not started yet";
  if (sandbox.level === "off" || sandbox.level === "basic") return "None: it can do everything that you can";
  const network = { none: "no network", loopback: "this machine only", hosts: "chosen hosts only" }[sandbox.network] ?? "the whole network";
  return `Sandboxed: ${network}${sandbox.missing.length > 0 ? "; not all of it can be enforced here" : ""}`;
}

function timeOf(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`;
}
