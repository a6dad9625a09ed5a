// What a question shows of the model that a site would use, of a call that a run wants to make, and of a site that an AI client wants to open.
//
// Owns how these look. Must never parse what a model or a site has written: texts become text nodes.

import type { Approval, ApprovalField } from "../../shared/protocol/generated/messages.ts";
import { visibleLines } from "../../shared/text/visible.ts";
import type { BrowserScope } from "../../shared/protocol/in_tabs.ts";
import type { AskedModel } from "../own.ts";
import type { Lack } from "../page_scopes.ts";
import { element, foreign } from "./elements.ts";
import { BROWSER_WORDS, EFFECT_MARKS, FILES_WORDS, LACK_WORDS, LEAVES_WORDS, NO_MODEL, budgetWords, cutWords, isCut, placeWords } from "./words.ts";

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
  const place = element("p", { class: "place", "data-here": String(model.here) }, `Runs ${before}`);
  place.append(...foreign(model.provider), after);
  group.append(head, place, element("p", { class: "budget" }, budgetWords(model)));
  return group;
}

/** One call: why it is asked about, what would leave, and its arguments key by key. */
export function callPart({ why, reason, tool, private: names, fields, effect }: Approval): HTMLElement {
  const group = element("section", { class: "model call", "aria-label": "The call" });
  const mark = EFFECT_MARKS[effect];
  if (mark !== undefined) group.append(element("span", { class: "effect", "data-effect": effect }, mark));
  group.append(element("p", {}, `You are asked because ${why}.`));
  if (names.length > 0) {
    const isFiles = reason === "files";
    const told = element("p", { class: "leaves" }, isFiles ? FILES_WORDS : LEAVES_WORDS[0]);
    if (!isFiles) told.append(...foreign(tool.slice(0, tool.indexOf("/"))), LEAVES_WORDS[1]);
    told.append(...foreign(names.join(", ")));
    group.append(told);
  }
  const list = element("dl", { class: "args" }, "");
  for (const field of fields) {
    const row = element("div", {}, "");
    row.append(keyOf(field.key), valueOf(field));
    list.append(row);
  }
  group.append(element("h2", {}, fields.length === 0 ? "Without arguments" : "With these arguments"), list);
  return group;
}

function keyOf(key: string): HTMLElement {
  const term = element("dt", {}, "");
  term.append(...foreign(key));
  return term;
}

function valueOf(field: ApprovalField): HTMLElement {
  const value = element("dd", {}, "");
  value.append(...foreign(field.text));
  if (!isCut(field)) return value;
  const cut = element("p", { class: "cut" }, `${cutWords(field.bytes)} `);
  // consent.ts hears of it: only the background can fetch them.
  cut.append(element("button", { type: "button", class: "more", "data-whole": "" }, "Show all"));
  value.append(cut);
  return value;
}

/** The arguments of a call as JSON, as long as they are. */
export function wholeParts(text: string): HTMLElement[] {
  const whole = element("div", { class: "args whole", tabindex: "0", role: "region", "aria-label": "All arguments", dir: "auto" }, visibleLines(text, Infinity));
  return [element("h2", {}, "All of them, as they are sent"), whole];
}

/** What a site wants to do in its tab. */
export function browserPart(scopes: BrowserScope[], lack: Lack | undefined): HTMLElement {
  const group = element("section", { class: "model", "aria-label": "The tabs" });
  const list = element("ul", {}, "");
  list.append(...scopes.map((scope) => element("li", {}, BROWSER_WORDS[scope])));
  group.append(element("h2", {}, "For the site, Harbor may"), list);
  if (lack !== undefined) group.append(element("p", { class: "lack" }, LACK_WORDS[lack]));
  return group;
}

/** A site that wants to have servers started, and asks for no tools. */
export function startsPart(): HTMLElement {
  const group = element("section", { class: "model", "aria-label": "Your servers" });
  group.append(element("h2", {}, "For the site, Harbor may"), element("ul", {}, ""));
  group.lastElementChild?.append(element("li", {}, "start a server whose tools the site may use"));
  return group;
}

/** A site that an AI client wants to open. */
export function sitePart(host: string): HTMLElement {
  const group = element("section", { class: "model", "aria-label": "The site" });
  group.append(element("h2", {}, "The site"), ...foreign(host));
  return group;
}
