// One provider that was added: how it stands, its key, its models, and its removal.
//
// Owns what a row shows. Must never show a key: its field is empty, whether one is set or not.

import type { Model, Provider } from "../../../shared/protocol/generated/messages.ts";
import { visible } from "../../../shared/text/visible.ts";
import { type Child, type VNode, h } from "../dom.ts";
import type { Hands } from "../hands.ts";
import { button, command, failure, foreign, notice, oneLine } from "../parts.ts";
import { count } from "../words.ts";
import { placeSign } from "./adding.ts";
import { CHOOSE, check, checkOf, choose, keyOf, know, removalOf, remove, removeKey, setKey, switchOn } from "./reading.ts";
import { MANY, keyPageOf, marksOf, matching, placeWords, priceWords, standingOf } from "./words.ts";

/** So many models are shown at once; the search finds the rest. */
const SHOWN = 50;

export function providerRow(hands: Hands, provider: Provider): VNode {
  const { id, name, base_url: url, is_local, is_default, enabled } = provider;
  return h(
    "li",
    { key: id, "data-provider": id },
    h(
      "div.provider",
      {},
      h("div.what", {}, h("p.name", {}, placeSign(is_local, placeWords({ is_local })), oneLine(name), is_default ? h("span.badge", {}, "default") : undefined), h("p.soft", {}, `${placeWords({ is_local })} · `, oneLine(url))),
      enabled
        ? button("Check", () => check(hands, id), { class: "small", "data-check": id, "aria-label": `Check ${visible(name).text}`, busy: hands.isBusy(checkOf(id)) })
        : button("Switch on", () => switchOn(hands, id), { class: "small", "aria-label": `Switch on ${visible(name).text}`, busy: hands.isBusy(checkOf(id)) }),
    ),
    standing(hands, provider),
    failure(hands, checkOf(id)),
    keyPart(hands, provider),
    modelsPart(hands, provider),
    removal(hands, provider),
  );
}

/** Its state in words, and its own words where it refuses. */
function standing(hands: Hands, provider: Provider): VNode {
  const { id, name } = provider;
  const isBusy = hands.isBusy(checkOf(id)) || hands.isBusy(keyOf(id));
  const { tone, words, said } = standingOf(provider, hands.state.providers.checks[id]);
  // The place is always there, so that its change is read out.
  return h(
    "div",
    { role: "status", class: "stands" },
    h("p.standing", { "data-tone": isBusy ? "busy" : tone }, h("span.words", {}, isBusy ? "Checking…" : words)),
    isBusy || said === undefined ? undefined : h("p.said", {}, oneLine(name), " says: ", foreign(said)),
  );
}

/** The field for its key. What was typed is gone from it before there is an answer. */
function keyPart(hands: Hands, { id, name, type, has_api_key: has, needs_api_key: needs, problem }: Provider): VNode {
  const shown = visible(name).text;
  const submit = (event: Event) => {
    event.preventDefault();
    setKey(hands, id, (event.currentTarget as HTMLFormElement).elements.namedItem("key") as HTMLInputElement);
  };
  const page = keyPageOf(type);
  const busy = hands.isBusy(keyOf(id));
  const form = h(
    "form.inline",
    { on: { submit }, key: "key" },
    h("input", { type: "password", name: "key", autocomplete: "off", placeholder: has ? "Another key" : "Key", "aria-label": `Key for ${shown}` }),
    h("button", { type: "submit", "data-set-key": id, "aria-disabled": busy ? "true" : undefined, "aria-label": `${has ? "Replace" : "Set"} the key of ${shown}` }, has ? "Replace" : "Set"),
    failure(hands, keyOf(id)),
  );
  const isRefused = problem !== undefined && (has || hands.state.providers.checks[id]?.cause === "unauthorized");
  const wants = (needs && !has) || isRefused;
  const links = h(
    "p.soft",
    {},
    has ? "A key is set. " : undefined,
    has ? button("Delete it", () => removeKey(hands, id), { class: "quiet danger", "aria-label": `Delete it: the key of ${shown}`, busy }) : undefined,
    page === undefined || has ? undefined : h("a", { href: page, target: "_blank", rel: "noopener noreferrer" }, "Get a key"),
  );
  return h("details.key", { key: "key part", open: wants ? true : undefined }, h("summary", {}, "Key"), form, links);
}

function modelsPart(hands: Hands, provider: Provider): Child {
  const { id } = provider;
  const { models, providers } = hands.state;
  if (models === undefined) return undefined;
  const mine = models.list.filter(({ provider: of }) => of === id);
  if (mine.length === 0) return standingOf(provider, providers.checks[id]).tone === "good" ? noModels(hands, provider) : undefined;
  const query = providers.queries[id] ?? "";
  const found = matching(mine, query);
  return h(
    "details",
    { key: "models" },
    h("summary", {}, count(mine.length, "model")),
    mine.length <= MANY ? undefined : search(hands, id, "Search its models"),
    h("ul.options", {}, ...found.slice(0, SHOWN).map((model) => modelRow(hands, model, model.id === models.chosen))),
    found.length > SHOWN ? h("p.soft", {}, `${found.length - SHOWN} more: search for a part of the name.`) : undefined,
    found.length === 0 ? h("p.soft", { role: "status" }, "No model matches.") : undefined,
    failure(hands, CHOOSE),
  );
}

/** It answers, and has nothing that could. */
function noModels(hands: Hands, { type }: Provider): VNode {
  if (type !== "ollama") return h("p.soft", { key: "none" }, "It has no model yet. Load one there, then press Check.");
  return h("div", { key: "none" }, h("p.soft", {}, "It has no model yet. Run this in a terminal, then press Check:"), command("ollama pull llama3.2", hands));
}

/** A search of one list of models. */
export function search(hands: Hands, list: string, label: string, enter?: () => void): VNode {
  const input = ({ target }: Event) => know(hands, { queries: { ...hands.state.providers.queries, [list]: (target as HTMLInputElement).value } });
  const keydown = (event: Event) => {
    if ((event as KeyboardEvent).key !== "Enter" || enter === undefined) return;
    event.preventDefault();
    enter();
  };
  return h("div.search", { key: "search" }, h("input", { type: "search", placeholder: label, "aria-label": label, autocomplete: "off", spellcheck: "false", value: hands.state.providers.queries[list] ?? "", on: { input, keydown } }));
}

function modelRow(hands: Hands, model: Model, isChosen: boolean): VNode {
  const marks = [model.is_local ? undefined : "leaves this machine", ...marksOf(model), priceWords(model)].filter((mark) => mark !== undefined);
  const props = { type: "button", "aria-pressed": String(isChosen), "data-default": visible(model.id).text, on: { click: () => choose(hands, model.id) } };
  return h(
    "li",
    { key: model.id },
    h("button.option", props, placeSign(model.is_local, placeWords(model)), h("span.what", {}, h("span", {}, oneLine(model.model), isChosen ? h("span.badge", {}, "default") : undefined), h("span.soft", {}, marks.join(" · ")))),
  );
}

function removal(hands: Hands, { id, name, has_api_key: has }: Provider): VNode {
  const busy = hands.isBusy(removalOf(id));
  const isAsked = hands.state.providers.removing === id;
  const ask = () => know(hands, { removing: id });
  if (!isAsked) return h("p.act", { key: "remove" }, button("Remove…", ask, { class: "quiet danger", "data-remove": id, "aria-label": `Remove… ${visible(name).text}` }), failure(hands, removalOf(id)));
  return notice(
    "warn",
    h("p", {}, "Remove ", oneLine(name), has ? " and its key? Chats with its models stay, and need another model to go on." : "? Chats with its models stay, and need another model to go on."),
    h("p.buttons", {}, button("Remove it", () => remove(hands, id), { class: "danger", "data-removes": id, busy }), button("Keep it", () => know(hands, { removing: undefined }), { class: "quiet" })),
    failure(hands, removalOf(id)),
  );
}
