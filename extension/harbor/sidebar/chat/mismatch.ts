// What does not fit before anything is sent: no model, one that is not there, one that cannot use tools or see pictures.
//
// Owns one line above the field. Must never warn of what nobody knows: a provider that does not say what its model can is believed.

import type { Model } from "../../../shared/protocol/generated/messages.ts";
import { type Child, h } from "../dom.ts";
import type { Hands } from "../hands.ts";
import { oneLine } from "../parts.ts";
import { hrefOf } from "../route.ts";
import { modelOf, serversOf } from "./picking.ts";

/** Why the next message would not get what the person expects. */
export type Mismatch = "no model" | "none chosen" | "gone" | "no pictures" | "no tools";

/** `id`: the model that is chosen; `hasTools`: whether any are on. */
export function mismatchOf(models: Model[], id: string | undefined, hasTools: boolean, hasPicture: boolean): Mismatch | undefined {
  if (models.length === 0) return "no model";
  if (id === undefined) return "none chosen";
  const model = models.find((one) => one.id === id);
  if (model === undefined) return "gone";
  if (hasPicture && model.vision === false) return "no pictures";
  return hasTools && model.tools === false ? "no tools" : undefined;
}

/** The words where the person has chosen the tools. */
const CHOSEN = "was not made to use tools, and may fail with those that you chose. Turn them off, or choose another model.";

const WORDS: { [is in Mismatch]: string } = {
  "no model": "No model can answer yet.",
  "none chosen": "No model is chosen: choose one above.",
  gone: "is not there now. Choose another model above, or look at its provider.",
  "no pictures": "sees no pictures. Remove the picture, or choose a model that sees it.",
  "no tools": "was not made to use tools, so it answers without them. Choose another model for tools.",
};

export function mismatch(hands: Hands): Child {
  const { models, servers = [], composing } = hands.state;
  if (models === undefined) return undefined;
  const id = modelOf(hands);
  const chosen = serversOf(hands);
  const hasTools = (chosen ?? servers).length > 0;
  const is = mismatchOf(models.list, id, hasTools, composing.attached.some((one) => one.is === "image"));
  // The place is always there, so that what comes is read out.
  if (is === undefined) return h("p.mismatch", { key: "mismatch", role: "status" });
  const name = is === "no model" || id === undefined ? undefined : oneLine(models.list.find((one) => one.id === id)?.model ?? id);
  return h("p.mismatch", { key: "mismatch", role: "status", "data-is": is }, name, name === undefined ? undefined : " ", is === "no tools" && chosen !== undefined ? CHOSEN : WORDS[is], " ", h("a", { href: hrefOf({ at: "models" }) }, is === "no model" ? "Choose a model" : "Models"));
}
