// An installation: what a source is, what it wants to be told, what would be installed, and only after the yes the thing itself.
//
//   source ─► resolve_server ─► form ─► plan ─► (build?) ─► the yes ─► install_server, exactly as planned ─► done
//
// Owns the order of that. Must never install what was not shown; secrets go from their fields to the background, and nowhere else.

import type { Declared, Installed, Requests, Resolved } from "../../../shared/protocol/generated/messages.ts";
import { visible } from "../../../shared/text/visible.ts";
import { comingWords } from "../../lazy.ts";
import { type Child, type VNode, h } from "../dom.ts";
import type { Hands, View } from "../hands.ts";
import { button, facts, failure, field, foreign, notice, oneLine } from "../parts.ts";
import { type Row, factsOfPlan, fromWords, isCaution, mayWords, summaryOf } from "../plan.ts";
import { type Route, hrefOf } from "../route.ts";
import type { Installation } from "../store.ts";
import { count } from "../words.ts";
import { searchFor } from "./add.ts";
import { alreadyHere, hereOf } from "./again.ts";
import { back, serverOf } from "./head.ts";
import { isFree } from "./new.ts";
import { run } from "./servers.ts";

type Here = Extract<Route, { at: "install" }>;
type Ask = Requests["install_server"];

const LOOK = (source: string) => `look up ${source}`;
const INSTALL = (source: string) => `install ${source}`;

export const install: View<Here> = {
  title: () => "Install a server",
  enter(hands, { source }, signal) {
    const { installation } = hands.state;
    // Whoever comes back to what is under way, or done, sees that. A plan is of one connection: it is made anew.
    if (installation?.source === source && (hands.isBusy(INSTALL(source)) || installation.done !== undefined)) return;
    hands.change({ installation: { source, filled: {} } });
    hands.act(LOOK(source), (mine) => lookUp(hands, source, mine), signal);
  },
  show(hands, { source }) {
    const { installation } = hands.state;
    if (installation?.source !== source) return [back({ at: "add" }, "Catalog")];
    const { about, details, plan, done, again } = installation;
    const here = again === true || plan !== undefined ? [] : hereOf(hands, installation);
    const title = about?.title ?? details?.entry.title ?? details?.entry.name ?? source;
    return [
      back({ at: "add" }, "Catalog"),
      h("h2", { tabindex: "-1", id: "title" }, oneLine(title)),
      aboutIt(installation),
      failure(hands, LOOK(source)),
      notFound(hands, source),
      done !== undefined ? h("div", { key: "done" }, ...doneOf(hands, done)) : undefined,
      done === undefined && plan !== undefined ? h("div", { key: "plan" }, ...planOf(hands, installation, plan)) : undefined,
      done === undefined && here.length > 0 ? h("div", { key: "here" }, alreadyHere(here, () => learn(hands, source, { again: true }))) : undefined,
      done === undefined && plan === undefined && about !== undefined && here.length === 0 ? h("div", { key: "form" }, ...formOf(hands, installation, about)) : undefined,
      hands.isBusy(LOOK(source)) || hands.isBusy(INSTALL(source)) ? progressOf(hands, installation) : undefined,
      failure(hands, INSTALL(source)),
    ];
  },
};

/** What was typed may be a word of something in the catalog. */
function notFound(hands: Hands, source: string): Child {
  const { code } = Object(hands.state.acts[LOOK(source)]) as { code?: unknown };
  if (code !== "not_found" || /[:/]/.test(source)) return undefined;
  return h("p.buttons", {}, button(`Search the catalog for ${visible(source).text}`, () => searchFor(hands, source), { id: "search-for" }));
}

function learn(hands: Hands, source: string, patch: Partial<Installation>): void {
  const { installation } = hands.state;
  if (installation?.source === source) hands.change({ installation: { ...installation, ...patch } });
}

const stepOf = (hands: Hands, source: string) => (progress: unknown) => {
  const { message } = Object(progress) as { message?: unknown };
  if (typeof message === "string") learn(hands, source, { step: message });
};

async function lookUp(hands: Hands, source: string, signal: AbortSignal): Promise<void> {
  if (/^[0-9a-f]{16}$/.test(source)) {
    // Beside what is needed: what the catalog knows of it. It may be an id that Harbor brings along.
    const known = await hands.ask("catalog_entry", { id: source }, { signal }).catch(() => undefined);
    if (known !== undefined) learn(hands, source, { details: known.details });
  }
  const { server } = await hands.ask("resolve_server", { source, progress: true }, { signal, onProgress: stepOf(hands, source) });
  learn(hands, source, { about: server, step: undefined });
  if (isPlain(server) && server.installed.length === 0) plan(hands, source, server);
}

/** Of Harbor's own list, and with nothing to fill in: its plan is shown at once, with one button. */
function isPlain({ from, way, inputs, variables }: Resolved): boolean {
  return from === "curated" && way !== undefined && ![...inputs, ...variables].some(({ required }) => required);
}

function aboutIt({ about, details, source }: Installation): VNode {
  const description = about?.description ?? details?.entry.description;
  const repository = about?.repository ?? details?.repository;
  const said: (readonly [string, string | undefined])[] = [
    ["Code", repository],
    ["Page", details?.website],
    ["Version", details?.entry.version],
    ["Installs", about?.ways[about.way ?? -1]?.source],
  ];
  const more = said.flatMap(([term, text]) => (text === undefined ? [] : [[term, foreign(text)] as const]));
  return h(
    "div",
    {},
    description === undefined ? undefined : h("p", {}, foreign(description)),
    facts([
      about === undefined ? undefined : ["From", foreign(fromWords(about))],
      about !== undefined || /^[0-9a-f]{16}$/.test(source) ? undefined : ["Source", foreign(source)],
    ]),
    more.length === 0 ? undefined : h("details", { key: "about" }, h("summary", {}, "About it"), facts(more)),
    h("ul.notes", {}, ...(about?.notes ?? []).map((note) => h("li", { key: note }, foreign(note)))),
  );
}

/** What is filled in before it is known what would be installed. */
function formOf(hands: Hands, { source, filled }: Installation, about: Resolved): Child[] {
  if (about.way === undefined) return refused(about);
  const submit = (event: Event) => {
    event.preventDefault();
    learn(hands, source, { filled: read(event.currentTarget as HTMLFormElement, about) });
    plan(hands, source, about);
  };
  // A name that is taken is no proposal.
  const usual = serverOf(hands, about.server_id ?? "") === undefined ? about.server_id : undefined;
  return [
    h(
      "form",
      { on: { submit }, "aria-label": "Its settings" },
      field({ id: "as", label: "Name", about: "Letters, digits, '.', '_' and '-'." }, (props) =>
        h("input", { type: "text", name: "server_id", autocomplete: "off", spellcheck: "false", pattern: "[A-Za-z0-9][A-Za-z0-9_.\\-]{0,63}", required: about.server_id !== undefined && usual === undefined, value: filled.server_id ?? usual ?? "", ...props }),
      ),
      ...about.inputs.map((one) => declared(one, "input", filled.inputs?.[one.name]?.join("\n"))),
      ...about.variables.map((one) => declared(one, "env", filled.env?.[one.name])),
      h("p.buttons", {}, h("button.primary", { type: "submit", id: "plan", "aria-disabled": hands.isBusy(INSTALL(source)) ? "true" : undefined }, "Continue")),
    ),
  ];
}

function refused({ ways }: Resolved): Child[] {
  return [
    notice(
      "bad",
      h("p", {}, "It cannot be installed on this machine."),
      h("ul", {}, ...ways.map(({ source, why_not }) => h("li", { key: source }, oneLine(source), ": ", foreign(why_not ?? "")))),
    ),
  ];
}

/** `said`: what the person has filled in before, where that is kept. */
function declared(one: Declared, group: "input" | "env" | "secret", said?: string): VNode {
  const { name, description, required, many, placeholder, choices, help_url } = one;
  const hints = [description, many ? "One per line." : "", one.path ? "A whole path, such as /home/me/notes. It gets access to that, and to nothing else." : "", help_url === undefined ? "" : `See ${help_url}`];
  const text = hints.filter((hint) => hint !== "").join(" ");
  const common = { name: `${group} ${name}`, autocomplete: "off", spellcheck: "false", placeholder: placeholder ?? one.default, required };
  return field({ id: `${group} ${name}`, label: labelOf(one), about: text === "" ? undefined : foreign(text), needed: required }, (props) => {
    if (group === "secret") return h("input", { type: "password", ...common, ...props });
    if (choices.length > 0) {
      const options = choices.map((choice) => h("option", { value: choice, key: choice }, visible(choice).text));
      return h("select", { ...common, ...props, value: said ?? one.default ?? "" }, h("option", { value: "" }, "not set"), ...options);
    }
    const value = said ?? "";
    return many ? h("textarea", { rows: 2, ...common, ...props, value }) : h("input", { type: "text", ...common, ...props, value });
  });
}

/** A path is asked for as a person would; else it is called by its name. */
function labelOf({ name, path, many }: Declared): Child {
  const [, what] = (path && /(director(?:y|ies)|folders?|file|path)/i.exec(name)) || [];
  if (what === undefined) return oneLine(name);
  const words = /file/i.test(what) ? "file" : /path/i.test(what) ? "file or folder" : "folder";
  return h("span", {}, many ? `Which ${words}s?` : `Which ${words}?`, h("span.unseen", {}, " (", oneLine(name), ")"));
}

function read(form: HTMLFormElement, { inputs, variables, server_id: usual }: Resolved): Installation["filled"] {
  const of = (name: string) => (form.elements.namedItem(name) as HTMLInputElement | null)?.value.trim() ?? "";
  const fields: Installation["filled"] = {};
  const id = of("server_id");
  if (id !== "" && id !== usual) fields.server_id = id;
  const given = inputs.map(({ name, many }) => [name, rowsOf(of(`input ${name}`), many)] as const).filter(([, rows]) => rows.length > 0);
  if (given.length > 0) fields.inputs = Object.fromEntries(given);
  const env = variables.map(({ name }) => [name, of(`env ${name}`)] as const).filter(([, value]) => value !== "");
  if (env.length > 0) fields.env = Object.fromEntries(env);
  return fields;
}

function rowsOf(text: string, many: boolean): string[] {
  const rows = many ? text.split("\n").map((row) => row.trim()) : [text];
  return rows.filter((row) => row !== "");
}

/** Asks what would be installed. `build`: code of the package may run for it, as the person has said. */
function plan(hands: Hands, source: string, about: Resolved, before?: Installed): void {
  const filled = hands.state.installation?.filled;
  hands.act(INSTALL(source), async (signal) => {
    isFree(hands, filled?.server_id ?? about.server_id ?? "");
    const planned = before?.planned ?? about.planned;
    const fields: Ask = { source, ...filled, plan: true, progress: true, ...(planned === undefined ? {} : { planned }), ...(before === undefined ? {} : { build: true }) };
    const { installed } = await hands.ask("install_server", fields, { signal, onProgress: stepOf(hands, source) });
    // What was read of a repository waits as the plan that was made of it, for who goes back and plans anew.
    const read = about.planned === undefined ? about : { ...about, planned: installed.planned ?? about.planned };
    learn(hands, source, { about: read, plan: installed, step: undefined });
  });
}

function planOf(hands: Hands, { source, about }: Installation, found: Installed): Child[] {
  const busy = hands.isBusy(INSTALL(source));
  const other = button("Change…", () => learn(hands, source, { plan: undefined }), { id: "unplan", busy });
  if (found.needs_build === true && about !== undefined) {
    return [
      notice(
        "warn",
        h("p", {}, "To find out what it needs, code of the package must run. It runs in a sandbox without access to your files."),
        h("p.buttons", {}, other, button("Run it", () => plan(hands, source, about, found), { id: "build", busy })),
      ),
    ];
  }
  const submit = (event: Event) => {
    event.preventDefault();
    if (!busy) begin(hands, event.currentTarget as HTMLFormElement, source, found);
  };
  const secrets = about?.secrets ?? [];
  const rows = factsOfPlan(found);
  const shown = ([term, said]: Row) => [term, foreign(said)] as const;
  return [
    h("h3", {}, "This will be installed"),
    h("p.may", {}, foreign(mayWords(found))),
    h("p.soft", {}, foreign(summaryOf(found))),
    facts(rows.filter(isCaution).map(shown)),
    h(
      "details",
      { key: "details", open: about?.from !== "curated" },
      h("summary", {}, "Details"),
      facts(rows.filter((row) => !isCaution(row)).map(shown)),
    ),
    h(
      "form",
      { on: { submit }, "aria-label": "Install it" },
      ...secrets.map((one) => declared({ ...one, required: false }, "secret")),
      secrets.some(({ required }) => required) ? h("p.soft", {}, "Without its secrets it is installed but cannot start.") : undefined,
      h("p.buttons", {}, other, h("button.primary", { type: "submit", id: "install", "aria-disabled": busy ? "true" : undefined }, "Install")),
    ),
  ];
}

function begin(hands: Hands, form: HTMLFormElement, source: string, found: Installed): void {
  const { about, filled } = hands.state.installation ?? {};
  const given = (about?.secrets ?? []).map(({ name }) => {
    const input = form.elements.namedItem(`secret ${name}`) as HTMLInputElement;
    const { value } = input;
    input.value = "";
    return [name, value] as const;
  });
  const values = given.filter(([, value]) => value !== "");
  hands.act(INSTALL(source), async (signal) => {
    // Exactly what was shown. What has no versions is what was read of its repository.
    const planned = found.planned ?? about?.planned;
    const fields: Ask = { source, ...filled, progress: true, ...(planned === undefined ? {} : { planned }), ...(values.length === 0 ? {} : { secret_values: Object.fromEntries(values) }) };
    const { installed } = await hands.ask("install_server", fields, { signal, onProgress: stepOf(hands, source) });
    learn(hands, source, { done: installed, step: undefined });
    hands.say(`${installed.server_id} is installed`);
  });
}

function progressOf(hands: Hands, { source, step }: Installation): VNode {
  const act = INSTALL(source);
  return h(
    "div.progress",
    { role: "status", id: "progress", key: "progress" },
    h("progress", { "aria-label": "Progress" }),
    h("p.soft", {}, step === undefined ? "Looking it up…" : foreign(step)),
    hands.isBusy(act) ? button("Cancel", () => hands.cancel(act), { id: "cancel" }) : undefined,
  );
}

function doneOf(hands: Hands, { server_id: id, tools = [], missing = [], needs_authorization: signIn }: Installed): Child[] {
  const waits = missing.length > 0 || signIn === true;
  const words = missing.length > 0 ? `Set ${missing.join(", ")} to use it.` : signIn === true ? "Sign in to use it." : `It has ${count(tools.length, "tool")}.`;
  const href = hrefOf({ at: "server", id, part: waits ? "secrets" : "tools" });
  return [
    notice(
      waits ? "warn" : "good",
      h("h3", {}, `${id} is installed`),
      h("p", {}, foreign(words)),
      h("p.buttons", {}, h("a.primary", { href, id: "installed" }, waits ? "Continue" : "Try it"), ...(waits ? [] : startNow(hands, id))),
      waits ? undefined : h("p", { role: "status", id: "runs" }, runsWords(hands, id)),
    ),
    failure(hands, `run ${id}`),
  ];
}

function startNow(hands: Hands, id: string): Child[] {
  if (serverOf(hands, id)?.state !== "stopped") return [];
  return [button("Start now", () => run(hands, id, "start"), { id: "start-now", busy: hands.isBusy(`run ${id}`) })];
}

/** It was started once to see its tools, and stopped again. */
function runsWords(hands: Hands, id: string): string {
  const server = serverOf(hands, id);
  if (server?.state === "running") return "Running.";
  return server?.state === "stopped" ? comingWords(server) : "";
}
