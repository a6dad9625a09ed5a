// The models that answer the person.
//
// Owns the list.

import { type Child, h } from "../dom.ts";
import type { Hands, View } from "../hands.ts";
import { command, empty, oneLine } from "../parts.ts";
import { loadModels, placeWords } from "../chat/picking.ts";

export const models: View<{ at: "models" }> = {
  title: () => "Models",
  enter: (hands, _, signal) => loadModels(hands, signal),
  show: (hands: Hands): Child[] => {
    const { models: known } = hands.state;
    return [
      h("h2", { tabindex: "-1", id: "title" }, "Models"),
      known === undefined || known.list.length === 0 ? empty("No models yet.") : h("ul.rows", {}, ...known.list.map((model) => h("li", { key: model.id }, oneLine(model.id), h("p.soft", {}, placeWords(model))))),
      command("harbor models add", hands),
    ];
  },
};
