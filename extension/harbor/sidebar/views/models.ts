// The models that answer the person: what was found here, what was added, which one is used, what they took.
//
// Owns the order of that. Must never hold a key.

import { type Child, type VNode, h } from "../dom.ts";
import type { Hands, View } from "../hands.ts";
import { addPart, foundHere, placeSign } from "../models/adding.ts";
import { loadOwn, ownModels } from "../models/fetching.ts";
import { providerRow } from "../models/provider.ts";
import { detect, know, loadProviders, loadUsage, providersFailed } from "../models/reading.ts";
import { usagePart } from "../models/usage.ts";
import { placeWords, whatAModelIs } from "../models/words.ts";
import { failure, oneLine, waiting } from "../parts.ts";
import { loadBudgets } from "./budget.ts";

export const models: View<{ at: "models" }> = {
  title: () => "Models",
  enter(hands, _, signal) {
    know(hands, { removing: undefined, queries: {} });
    loadProviders(hands, signal);
    detect(hands, signal);
    loadOwn(hands, signal);
    loadUsage(hands, signal);
    loadBudgets(hands, signal);
  },
  show(hands) {
    const { list, found } = hands.state.providers;
    const head = h("h2", { tabindex: "-1", id: "title" }, "Models");
    if (list === undefined) return [head, failure(hands, providersFailed), hands.isBusy(providersFailed) ? waiting("Asking Harbor…") : undefined];
    return [
      head,
      h("div", { key: "head" }, ...(list.length === 0 ? whatAModelIs() : [answering(hands)])),
      failure(hands, providersFailed),
      list.length === 0 ? undefined : h("h3", {}, "Providers"),
      list.length === 0 ? undefined : h("ul.rows", {}, ...list.map((one) => providerRow(hands, one))),
      h("h3", {}, "Found on this machine"),
      h("div", { key: "found" }, ...foundHere(hands)),
      ...variables(found?.variables ?? []),
      h("h3", {}, "Harbor's own"),
      h("div", { key: "own" }, ...ownModels(hands)),
      h("h3", {}, "Add a provider"),
      addPart(hands, list.length === 0),
      h("h3", {}, "Usage"),
      h("div", { key: "usage" }, ...usagePart(hands)),
    ];
  },
};

function answering(hands: Hands): VNode {
  const { models: known } = hands.state;
  if (known === undefined) return h("p.soft", {}, "Asking your providers for their models…");
  const model = known.list.find(({ id }) => id === known.chosen);
  if (model === undefined) return h("p.soft", {}, known.chosen === undefined ? "No provider lists a model yet." : h("span", {}, oneLine(known.chosen), " is chosen, but no provider lists it now."));
  return h("p", { id: "answers" }, placeSign(model.is_local, placeWords(model)), h("strong", {}, oneLine(model.id)), " answers where you choose no other. ", placeWords(model), ".");
}

function variables(found: { variable: string }[]): Child[] {
  if (found.length === 0) return [];
  return [h("p.soft", {}, `${found.map(({ variable }) => variable).join(", ")}: set where Harbor runs. Harbor never takes a key from there by itself, so paste it below.`)];
}
