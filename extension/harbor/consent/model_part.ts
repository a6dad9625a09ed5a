// What a question shows of the model that a site would use, of a call that a run wants to make, and of a site that an AI client wants to open.
//
// Owns how these look. Must never parse what a model or a site has written: texts become text nodes.

import type { AskedCall, AskedModel } from "../own.ts";
import { element, foreign } from "./elements.ts";
import { NO_MODEL, budgetWords, placeWords } from "./words.ts";

/** The model, where it runs, and the site's budget. */
export function modelPart(model: AskedModel | "none"): HTMLElement {
  const group = element("section", { class: "model", "aria-label": "The model" });
  if (model === "none") {
    group.append(element("p", {}, NO_MODEL));
    return group;
  }
  const head = element("h2", {}, "");
  head.append(...foreign(model.name ?? "The first model there"));
  const [before, after] = placeWords(model.here);
  const place = element("p", { class: "place", "data-here": String(model.here) }, `It runs ${before}`);
  place.append(...foreign(model.provider), after);
  group.append(head, place, element("p", { class: "budget" }, budgetWords(model)));
  return group;
}

/** One call, exactly as it would be made. */
export function callPart(call: AskedCall): HTMLElement {
  const group = element("section", { class: "model call", "aria-label": "The call" });
  group.append(element("p", {}, `You are asked because ${call.why}.`));
  group.append(element("h2", {}, "With these arguments"), texts(call.args));
  if (call.leaves !== undefined && call.leaves !== call.args) group.append(element("h2", {}, "This would leave your machine"), texts(call.leaves));
  return group;
}

/** A site that an AI client wants to open. */
export function sitePart(host: string): HTMLElement {
  const group = element("section", { class: "model", "aria-label": "The site" });
  group.append(element("h2", {}, "The site"), ...foreign(host));
  return group;
}

function texts(text: string): HTMLElement {
  const block = element("div", { class: "args" });
  block.append(...foreign(text));
  return block;
}
