// One tool: what it says of itself, a form to try it out, and what it answers.
//
// Owns the trial. Must never call a tool but by a click of the person's.

import { sessionStore } from "../../../shared/browser/api.ts";
import { isFields } from "../../../shared/ports/wire.ts";
import { visible } from "../../../shared/text/visible.ts";
import { startWords } from "../../lazy.ts";
import { type Child, type VNode, h } from "../dom.ts";
import { type Draft, argumentsOf, begun, draftOf, parseArguments, whole } from "../form/draft.ts";
import { fieldsOf } from "../form/fields.ts";
import type { Hands, View } from "../hands.ts";
import { button, copyButton, effectMark, empty, failure, field, foreign, lines, notice, oneLine, prose, waiting } from "../parts.ts";
import { type Piece, shownOf } from "../result.ts";
import { type Route, hrefOf } from "../route.ts";
import type { Tool, Trial } from "../store.ts";
import { back, serverOf } from "./head.ts";
import { toggle } from "./servers.ts";
import { loadTools } from "./tools.ts";

type Here = Extract<Route, { at: "tool" }>;

const CALL = "call";
const CANCELLED = "Cancelled. The server was told to stop; what it did before is not undone.";

export const tool: View<Here> = {
  title: (_, { tool: name }) => name,
  enter(hands, route, signal) {
    if (hands.state.detail?.tools === undefined) loadTools(hands, route.id, signal, () => prepare(hands, route));
    else prepare(hands, route);
  },
  heard(hands, route, type, payload) {
    const mine = (type === "tools_changed" || type === "tool_changed") && payload["server_id"] === route.id;
    if (mine) loadTools(hands, route.id, undefined, () => prepare(hands, route));
  },
  show(hands, { id, tool: name }) {
    const up = back({ at: "server", id, part: "tools" }, `Tools of ${id}`);
    const { detail, trial } = hands.state;
    const known = detail?.tools;
    const found = known?.find((one) => one.name === name);
    if (found === undefined) {
      const nothing = known === undefined ? waiting("Asking for its tools…") : empty("It no longer has this tool.");
      return [up, failure(hands, `tools ${id}`), nothing];
    }
    return [up, h("h2.mono", { tabindex: "-1", id: "title" }, oneLine(name)), changed(hands, id, name), ...about(found), ...(trial?.id === id && trial.tool === name ? trialOf(hands, trial) : [])];
  },
};

/** Whether it is not what it was when the person last saw it. */
function changed(hands: Hands, id: string, name: string): Child {
  const change = hands.state.detail?.changes?.find(({ tool_name }) => tool_name === name);
  if (change === undefined) return undefined;
  const words = change.blocked ? "No site can use it until you accept the change." : "Sites can still use it, as your configuration says.";
  const see = h("a.action", { href: hrefOf({ at: "server", id, part: "tools" }), id: "changed" }, "Review the change");
  return notice("warn", h("p", {}, "It changed since you accepted it. ", words), see);
}

function about({ title, description, inputSchema, effect }: Tool): Child[] {
  return [
    title === undefined ? undefined : h("p.strong", {}, foreign(title)),
    description === undefined ? h("p.soft", {}, "It has no description.") : h("p", {}, foreign(description)),
    effect === undefined ? undefined : h("p", {}, effectMark(effect), h("span.soft", {}, ` ${EFFECTS[effect] ?? ""}`)),
    h("details", {}, h("summary", {}, "Argument schema"), lines(JSON.stringify(inputSchema ?? null, null, 2), "Argument schema")),
  ];
}

const EFFECTS: { [effect: string]: string } = { reads: "It only reads.", writes: "It changes something.", destroys: "It may delete or overwrite something." };

/** Begins a trial, unless there is one of the same tool: what was typed stays. */
function prepare(hands: Hands, { id, tool: name }: Here): void {
  const { trial, detail } = hands.state;
  const found = detail?.tools?.find((one) => one.name === name);
  if (found === undefined) return;
  const schema = JSON.stringify(found.inputSchema ?? null);
  if (trial?.id === id && trial.tool === name && trial.schema === schema) return;
  const { plan, draft } = begun(found.inputSchema);
  hands.change({ trial: { id, tool: name, schema, plan, asJson: plan.is === "json", draft, json: { text: "{}" }, problems: new Map() } });
  void recall(hands, { id, tool: name, schema });
}

/** Under which name the last arguments of a tool are kept until the browser ends: in its memory, on no disk. */
const keptAs = ({ id, tool: name }: Pick<Trial, "id" | "tool">): string => `arguments ${id}/${name}`;

/** Fills in what the person called it with last, unless they have typed meanwhile. */
async function recall(hands: Hands, which: Pick<Trial, "id" | "tool" | "schema">): Promise<void> {
  const kept = await sessionStore.get(keptAs(which)).catch(() => undefined);
  const { trial } = hands.state;
  if (!isFields(kept) || trial?.id !== which.id || trial.tool !== which.tool || trial.schema !== which.schema || trial.result !== undefined) return;
  const untouched = begun(JSON.parse(which.schema) ?? undefined).draft;
  if (textsOf(trial.draft) !== textsOf(untouched) || trial.json.text !== "{}") return;
  const fields = trial.plan.is === "form" ? trial.plan.fields : [];
  const draft = trial.asJson ? undefined : draftOf(whole(fields), kept);
  // What does not fit into the form is no longer what the tool takes.
  if (draft !== undefined) hands.change({ trial: { ...trial, draft, drawn: (trial.drawn ?? 0) + 1 } });
  else if (trial.asJson) hands.change({ trial: { ...trial, json: { text: JSON.stringify(kept, null, 2) }, drawn: (trial.drawn ?? 0) + 1 } });
}

/** What is in all boxes; the keys of items are no part of that. */
function textsOf(draft: Draft): string {
  return JSON.stringify(draft, (name, value: unknown) => (name === "key" ? undefined : value));
}

function trialOf(hands: Hands, trial: Trial): Child[] {
  const busy = hands.isBusy(CALL);
  const change = (patch: Partial<Trial> = {}) => keep(hands, trial, patch);
  const submit = (event: Event) => {
    event.preventDefault();
    if (!busy) call(hands, trial);
  };
  return [
    h(
      "form.trial",
      { key: `${trial.drawn ?? 0} ${trial.schema}`, on: { submit }, novalidate: true, "aria-label": "Try it out" },
      h("h3", {}, "Try it out"),
      trial.asJson ? jsonOf(trial) : formOf(trial, () => change()),
      h(
        "p.buttons",
        {},
        h("button.primary", { type: "submit", id: "call", "aria-disabled": busy ? "true" : undefined }, "Call"),
        trial.plan.is === "form" ? button(trial.asJson ? "As a form" : "As JSON", () => switchForm(trial, change), { class: "quiet", id: "as-json", key: "as" }) : undefined,
        busy ? button("Cancel", () => cancel(hands, trial), { id: "cancel", key: "cancel" }) : undefined,
      ),
    ),
    startFirst(hands, trial.id),
    h("div", { role: "status", id: "progress" }, busy ? progressOf(trial) : trial.cancelled === true ? h("p.soft", {}, CANCELLED) : undefined),
    failure(hands, CALL),
    trial.result === undefined ? undefined : resultOf(hands, trial.result),
  ];
}

/** What does not run is started here: a call does that for some servers only. */
function startFirst(hands: Hands, id: string): Child {
  const server = serverOf(hands, id);
  if (server === undefined || server.state === "running") return undefined;
  return h(
    "div.server",
    { key: "start" },
    h("p.what.soft", {}, startWords(server)),
    toggle(hands, server, visible(server.label).text),
    failure(hands, `run ${id}`),
    failure(hands, `stop ${id}`),
  );
}

function cancel(hands: Hands, trial: Trial): void {
  hands.cancel(CALL);
  keep(hands, trial, { cancelled: true });
}

/** Changes a trial, if it is still that one. */
function keep(hands: Hands, { id, tool: name }: Trial, patch: Partial<Trial>): void {
  const { trial: now } = hands.state;
  if (now?.id === id && now.tool === name) hands.change({ trial: { ...now, ...patch } });
}

function formOf({ plan, draft, problems }: Trial, changed: () => void): VNode {
  const fields = plan.is === "form" ? plan.fields : [];
  if (fields.length === 0) return h("p.soft", { key: "none" }, "It takes no arguments.");
  return h("div", { key: "form" }, fieldsOf(fields, draft, "arg", { problems, changed }));
}

function jsonOf({ plan, json, problems, draft }: Trial): VNode {
  const input = ({ target }: Event) => {
    json.text = (target as HTMLTextAreaElement).value;
  };
  const why = plan.is === "json" ? `As JSON: ${plan.why}.` : "The arguments as a JSON object.";
  return h(
    "div",
    { key: "json" },
    field({ id: "json", label: "Arguments", about: foreign(why), problem: problems.get(draft) }, (props) =>
      h("textarea.code", { rows: 6, spellcheck: "false", value: json.text, ...props, on: { input } }),
    ),
  );
}

function switchForm(trial: Trial, change: (patch: Partial<Trial>) => void): void {
  const fields = trial.plan.is === "form" ? trial.plan.fields : [];
  if (!trial.asJson) {
    const { args } = argumentsOf(fields, trial.draft);
    change({ asJson: true, json: { text: args === undefined ? "{}" : JSON.stringify(args, null, 2) }, problems: new Map() });
    return;
  }
  const args = parseArguments(trial.json.text);
  const draft = typeof args === "string" ? undefined : draftOf(whole(fields), args);
  if (draft !== undefined) change({ asJson: false, draft, problems: new Map() });
  else change({ problems: new Map([[trial.draft, typeof args === "string" ? args : "This does not fit into a form"]]) });
}

function call(hands: Hands, trial: Trial): void {
  const { args, problems } = read(trial);
  hands.hush();
  keep(hands, trial, { problems, result: undefined, progress: undefined, cancelled: false });
  if (args === undefined) {
    queueMicrotask(() => document.querySelector<HTMLElement>(".trial [aria-invalid]")?.focus());
    return;
  }
  hands.act(CALL, async (signal) => {
    const began = performance.now();
    const fields = { server_id: trial.id, tool_name: trial.tool, arguments: args, progress: true };
    const onProgress = (progress: unknown) => keep(hands, trial, { progress: progress as NonNullable<Trial["progress"]> });
    void sessionStore.set(keptAs(trial), args).catch(() => undefined);
    const { result } = await hands.ask("mcp_call_tool", fields, { signal, onProgress });
    keep(hands, trial, { result: { value: result, ms: Math.round(performance.now() - began) } });
  }, hands.here);
}

function read(trial: Trial): ReturnType<typeof argumentsOf> {
  if (!trial.asJson) return argumentsOf(trial.plan.is === "form" ? trial.plan.fields : [], trial.draft);
  const args = parseArguments(trial.json.text);
  return typeof args === "string" ? { problems: new Map([[trial.draft, args]]) } : { args, problems: new Map() };
}

function progressOf({ progress }: Trial): VNode {
  const { progress: now, total, message } = progress ?? {};
  const known = typeof total === "number" && typeof now === "number" && total > 0;
  const bar = h("progress", known ? { "aria-label": "Progress", max: total, value: String(now) } : { "aria-label": "Progress" });
  return h("div.progress", {}, bar, h("p.soft", {}, typeof message === "string" ? foreign(message) : "Working…"));
}

function resultOf(hands: Hands, { value, ms }: NonNullable<Trial["result"]>): VNode {
  const { failed, pieces } = shownOf(value);
  return h(
    "section.result",
    { id: "result", "aria-label": "Result" },
    h("h3", {}, "Result", h("span.badge", {}, `${ms} ms`)),
    failed ? notice("bad", h("p", {}, ...prose("The tool reported a failure."))) : undefined,
    pieces.length === 0 ? empty("The answer is empty.") : undefined,
    h("div.pieces", {}, ...pieces.map(pieceOf)),
    copyButton(() => JSON.stringify(value, null, 2), "Copy the result as JSON", hands),
  );
}

function pieceOf(piece: Piece): VNode {
  if (piece.is === "image") return h("img", { src: piece.url, alt: piece.label });
  if (piece.is === "other") return h("p.soft", {}, foreign(piece.words));
  if (piece.is === "table") return tableOf(piece);
  return lines(piece.text, piece.label);
}

function tableOf({ label, head, rows, text }: Extract<Piece, { is: "table" }>): VNode {
  const cell = (tag: "th" | "td", value: string, props = {}) => h(tag, props, foreign(value));
  const row = (cells: string[], at: number) => h("tr", { key: String(at) }, ...cells.map((one, column) => (head === undefined && column === 0 ? cell("th", one, { scope: "row" }) : cell("td", one))));
  return h(
    "div",
    {},
    h(
      "div.wide",
      { tabindex: "0", role: "region", "aria-label": label },
      h("table", {}, head === undefined ? undefined : h("thead", {}, h("tr", {}, ...head.map((one) => cell("th", one, { scope: "col" })))), h("tbody", {}, ...rows.map(row))),
    ),
    h("details", {}, h("summary", {}, "As JSON"), lines(text, `${label} as JSON`)),
  );
}
