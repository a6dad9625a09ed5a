// What a question shows of the model that a site would use, of a call that a run wants to make, and of a site that an AI client wants to open.
//
// Owns how these look. Must never parse what a model or a site has written: texts become text nodes.

import type { Approval } from "../../shared/protocol/generated/messages.ts";
import type { AskedModel } from "../own.ts";
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

/** One call: why it is asked about, what would leave, and its arguments key by key. */
export function callPart({ id, why, tool, private: names, fields }: Approval): HTMLElement {
  const group = element("section", { class: "model call", "aria-label": "The call" });
  group.append(element("p", {}, `You are asked because ${why}.`));
  if (names.length > 0) {
    const told = element("p", { class: "leaves" }, "");
    told.append(...foreign(tool.slice(0, tool.indexOf("/"))), " would be told something that may come from: ", ...foreign(names.join(", ")));
    group.append(told);
  }
  const list = element("dl", { class: "args" }, "");
  list.append(...fields.flatMap(({ key, text, bytes }) => [keyOf(key), valueOf(text, bytes, id)]));
  group.append(element("h2", {}, fields.length === 0 ? "Without arguments" : "With these arguments"), list);
  return group;
}

function keyOf(key: string): HTMLElement {
  const term = element("dt", {}, "");
  term.append(...foreign(key));
  return term;
}

function valueOf(text: string, bytes: number | undefined, id: string): HTMLElement {
  const value = element("dd", {}, "");
  value.append(...foreign(text));
  if (bytes !== undefined) value.append(element("p", { class: "cut" }, `${bytes.toLocaleString("en")} bytes in all: \`harbor approvals show ${id.slice(0, 8)}\` shows them.`));
  return value;
}

/** A site that an AI client wants to open. */
export function sitePart(host: string): HTMLElement {
  const group = element("section", { class: "model", "aria-label": "The site" });
  group.append(element("h2", {}, "The site"), ...foreign(host));
  return group;
}
