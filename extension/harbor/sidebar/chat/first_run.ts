// The first steps, where nothing has been said and no model is there: Harbor found → a model → a server.
//
//   no model, never begun ─► begun ─► each step done or skipped ─► over: the field has the focus
//
// Owns which step is open, and what is remembered of that. Each can be skipped, and done later. Must never add anything without a click.

import { localStore } from "../../../shared/browser/api.ts";
import type { Model } from "../../../shared/protocol/generated/messages.ts";
import { visible } from "../../../shared/text/visible.ts";
import { type Child, type VNode, h } from "../dom.ts";
import { focus } from "../focus.ts";
import type { Hands } from "../hands.ts";
import { addPart, foundHere, placeSign } from "../models/adding.ts";
import { providerRow } from "../models/provider.ts";
import { CHOOSE, choose, detect, readProviders } from "../models/reading.ts";
import { placeWords, whatAModelIs } from "../models/words.ts";
import { button, failure, oneLine } from "../parts.ts";
import { hrefOf } from "../route.ts";
import type { State } from "../store.ts";

const KEPT = "first run";

type Step = "model" | "server";

/** What is remembered. */
export interface FirstRun {
  begun: boolean;
  isOver: boolean;
  skipped: Step[];
}

const NOT_BEGUN: FirstRun = { begun: false, isOver: false, skipped: [] };

export type Standing = "done" | "skipped" | "open";

type Known = Pick<State, "models" | "servers" | "firstRun">;

/** How the steps stand; `undefined`: they are not shown, or it is not known yet whether they are. */
export function stepsOf({ models, servers, firstRun }: Known): { model: Standing; server: Standing } | undefined {
  if (models === undefined || servers === undefined || firstRun === undefined || firstRun.isOver) return undefined;
  const hasModel = models.list.length > 0;
  // Whoever has set all up elsewhere needs no steps.
  if (!firstRun.begun && hasModel) return undefined;
  const standing = (step: Step, isDone: boolean) => (isDone ? "done" : firstRun.skipped.includes(step) ? "skipped" : "open");
  return { model: standing("model", hasModel), server: standing("server", servers.length > 0) };
}

/** Reads what was remembered; what cannot be read is as if nothing had been. */
export function parseFirstRun(value: unknown): FirstRun {
  const { begun, isOver, skipped } = Object(value) as { [name: string]: unknown };
  const steps = Array.isArray(skipped) ? skipped.filter((step): step is Step => step === "model" || step === "server") : [];
  return { begun: begun === true, isOver: isOver === true, skipped: steps };
}

export async function readFirstRun(hands: Hands): Promise<void> {
  if (hands.state.firstRun !== undefined) return;
  const kept = await localStore.get(KEPT).catch(() => undefined);
  hands.change({ firstRun: parseFirstRun(kept) });
}

function remember(hands: Hands, patch: Partial<FirstRun>): void {
  const firstRun = { ...(hands.state.firstRun ?? NOT_BEGUN), ...patch };
  hands.change({ firstRun });
  void localStore.set(KEPT, firstRun).catch(() => undefined);
}

/** Reads what the steps show, where there is no model. */
export async function prepareFirstRun(hands: Hands, signal?: AbortSignal): Promise<void> {
  if ((hands.state.models?.list.length ?? 0) > 0) return;
  await readFirstRun(hands);
  await readProviders(hands, signal);
  if (hands.state.providers.found === undefined) detect(hands, signal);
}

/** What is shown of a chat in which nothing was said; `undefined`: what is shown to those who have a model. */
export function firstRun(hands: Hands): Child[] | undefined {
  const steps = stepsOf(hands.state);
  if (steps === undefined) return withoutModel(hands);
  // They are over, or have begun, by whatever has happened: what is shown says so first.
  queueMicrotask(() => settle(hands));
  const { bridge } = hands.state;
  return [
    h("h2", { tabindex: "-1", id: "title" }, "Three steps to your first answer"),
    h(
      "ol.first-run",
      {},
      step("Harbor", "done", h("p.soft", {}, `Runs on this machine${bridge.version === undefined ? "" : ` (${visible(bridge.version).text})`}.`)),
      step("A model", steps.model, ...modelStep(hands, steps.model)),
      step("Tools", steps.server, ...serverStep(hands, steps.server, steps.model)),
    ),
  ];
}

/** The steps are over, or were never needed, and there is no model. */
function withoutModel({ state }: Hands): Child[] | undefined {
  if (state.models === undefined || state.models.list.length > 0 || state.firstRun?.isOver !== true) return undefined;
  return [
    h("h2", { tabindex: "-1", id: "title" }, "No model yet"),
    ...whatAModelIs(),
    h("p.buttons", {}, h("a.primary", { href: hrefOf({ at: "models" }) }, "Choose a model")),
  ];
}

function settle(hands: Hands): void {
  const steps = stepsOf(hands.state);
  const { firstRun } = hands.state;
  if (steps === undefined || firstRun === undefined) return;
  if (steps.model !== "open" && steps.server !== "open") {
    remember(hands, { isOver: true });
    focus("#say-text");
  } else if (!firstRun.begun) remember(hands, { begun: true });
}

function step(name: string, standing: Standing, ...shown: Child[]): VNode {
  const words = { done: "done", skipped: "later", open: "to do" }[standing];
  return h("li", { key: name, "data-step": name, "data-standing": standing }, h("h3", {}, name, h("span.unseen", {}, `: ${words}`)), ...shown);
}

/** What skips a step, or takes that back. */
function later(hands: Hands, step: Step): VNode {
  const skip = () => remember(hands, { skipped: [...(hands.state.firstRun?.skipped ?? []), step] });
  return h("p.act", { key: "later" }, button("Later", skip, { class: "quiet", "data-later": step, "aria-label": step === "model" ? "Later: choose a model" : "Later: add tools" }));
}

function now(hands: Hands, step: Step): VNode {
  const back = () => remember(hands, { skipped: (hands.state.firstRun?.skipped ?? []).filter((one) => one !== step) });
  return h("p.soft", { key: "now" }, "Skipped. ", button("Do it now", back, { class: "quiet", "data-now": step, "aria-label": step === "model" ? "Do it now: choose a model" : "Do it now: add tools" }));
}

function modelStep(hands: Hands, standing: Standing): Child[] {
  if (standing === "skipped") return [now(hands, "model")];
  if (standing === "done") return chosenModel(hands);
  const { list = [], found } = hands.state.providers;
  const hasFound = (found?.list.length ?? 0) > 0;
  return [
    ...whatAModelIs(),
    // Those that were added and cannot answer: each says why, and has what helps.
    list.length === 0 ? undefined : h("ul.rows", { key: "added" }, ...list.map((one) => providerRow(hands, one))),
    h("h4", {}, "Found on this machine"),
    h("div", { key: "found" }, ...foundHere(hands)),
    addPart(hands, !hasFound && list.length === 0),
    later(hands, "model"),
  ];
}

/** The model that answers, and the way to another one. */
function chosenModel(hands: Hands): Child[] {
  const { list = [], chosen } = hands.state.models ?? {};
  const model = list.find(({ id }) => id === chosen);
  const change = ({ target }: Event) => choose(hands, (target as HTMLSelectElement).value);
  const option = ({ id }: Model) => h("option", { value: id, key: id }, visible(id).text);
  const select = h("select", { id: "first-model", "aria-label": "The model that answers", value: chosen ?? "", on: { change } }, ...list.map(option));
  return [
    model === undefined ? undefined : h("p", {}, placeSign(model.is_local, placeWords(model)), oneLine(model.id), h("span.soft", {}, ` · ${placeWords(model)}`)),
    list.length < 2 ? undefined : h("p", { key: "which" }, select),
    failure(hands, CHOOSE),
  ];
}

/** Of Harbor's own list: they need no key and nothing to be filled in. */
const CARDS = [
  ["time", "Time", "“What time is it in Tokyo?”"],
  ["fetch", "Fetch", "“What does this page say?” It reads pages of the web."],
  ["memory", "Memory", "“Remember that I like short answers.”"],
] as const;

function serverStep(hands: Hands, standing: Standing, model: Standing): Child[] {
  if (standing === "skipped") return [now(hands, "server")];
  if (standing === "done") return [h("p.soft", {}, "The model may use your servers' tools. What only reads runs; the rest asks you.")];
  const words = h("p.soft", {}, "A server gives the model tools. It runs in a sandbox.");
  // One thing at a time.
  if (model === "open") return [words];
  const card = ([source, name, example]: (typeof CARDS)[number]) => h("li", { key: source }, h("a.card", { href: hrefOf({ at: "install", source }), "data-card": source }, h("strong", {}, name), h("span.soft", {}, example)));
  return [words, h("ul.cards", {}, ...CARDS.map(card)), h("p", {}, h("a", { href: hrefOf({ at: "add" }) }, "All servers")), later(hands, "server")];
}

/** Above what to do where Harbor is not found: the first of the steps, for those who have not taken them. */
export function harborStep({ state }: Hands): Child {
  if (state?.firstRun?.isOver === true) return undefined;
  return h("p.soft", { key: "step" }, "Step 1 of 3. A model and tools come next.");
}
