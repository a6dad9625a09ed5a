// Adding a provider: one that was found on this machine, a service, or an address of one's own.
//
// Owns the forms. A key is typed into a field that nobody reads but the request. Must never send anything to what another user of this
// machine runs: that takes a command.

import type { Provider, ProviderType, Requests } from "../../../shared/protocol/generated/messages.ts";
import { CodedError } from "../../../shared/protocol/codes.ts";
import { visible } from "../../../shared/text/visible.ts";
import { type Child, type VNode, h } from "../dom.ts";
import { focus } from "../focus.ts";
import type { Hands } from "../hands.ts";
import { button, command, failure, field, oneLine, waiting } from "../parts.ts";
import { shellWord } from "../plan.ts";
import { DETECT, add, detect, know, use, useOf } from "./reading.ts";
import { OWN, keyPageOf, whereWords } from "./words.ts";

export const ADD = "add provider";

/** Where a model runs, as a sign with its words for those who do not see it. */
export function placeSign(isLocal: boolean, words: string): VNode {
  return h("span.place", { "data-local": String(isLocal), title: words }, h("span.unseen", {}, `${words}: `));
}

/** What runs on this machine and is not added. */
export function foundHere(hands: Hands): Child[] {
  const { found } = hands.state.providers;
  if (found === undefined) return [failure(hands, DETECT), hands.isBusy(DETECT) ? waiting("Looking on this machine…") : undefined];
  const again = button("Look again", () => detect(hands), { id: "detect", class: "quiet", busy: hands.isBusy(DETECT) });
  if (found.list.length === 0) return [h("p.soft", {}, "No program that runs models was found on this machine. Start one, such as Ollama or llama-server."), h("p.act", {}, again), failure(hands, DETECT)];
  return [h("ul.rows.found", {}, ...found.list.map((one) => foundRow(hands, one))), h("p.act", {}, again), failure(hands, DETECT)];
}

function foundRow(hands: Hands, found: Provider): VNode {
  const { base_url: url, name, type, other_user: other, needs_api_key: needs } = found;
  const words = needs ? "Add" : "Use it";
  const use_ = button(words, () => use(hands, found), { class: "small primary", "data-use": type, "data-url": url, "aria-label": `${words}: ${visible(name).text}`, busy: hands.isBusy(useOf(found)) });
  return h(
    "li",
    { key: url },
    h("div.provider", {}, h("div.what", {}, h("p.name", {}, placeSign(true, "On this machine"), oneLine(name)), h("p.soft", {}, oneLine(url), needs ? " · wants a key" : undefined)), other === undefined ? use_ : undefined),
    ...(other === undefined ? [] : anothers(hands, found, other)),
    failure(hands, useOf(found)),
  );
}

function anothers(hands: Hands, { type, base_url }: Provider, other: string): Child[] {
  return [
    h("p.standing", { "data-tone": "warn" }, h("span.words", {}, "The user ", oneLine(other), " of this machine runs it, and could read what you ask.")),
    h("p.soft", {}, "To use it all the same, run in a terminal:"),
    command(["harbor", "models", "add", type, "--url", base_url, "--allow-other-user"].map(shellWord).join(" "), hands),
  ];
}

/** The form, folded where there is something else to do. */
export function addPart(hands: Hands, isOpen: boolean): VNode {
  return h("details", { key: "services", open: isOpen ? true : undefined }, h("summary", {}, "A service, or an endpoint of your own"), ...addForm(hands));
}

/** The type that the form adds now. */
function chosenType({ state }: Hands): (ProviderType & { isService: boolean }) | undefined {
  const { types, type } = state.providers;
  const all = [...types.remote.map((one) => ({ ...one, isService: true })), ...types.local.map((one) => ({ ...one, isService: false }))];
  return all.find((one) => one.type === type) ?? all[0];
}

/** The form for a service, a program at an address of its own, or any endpoint. */
function addForm(hands: Hands): Child[] {
  const chosen = chosenType(hands);
  if (chosen === undefined) return [failure(hands, ADD)];
  const { type, name, isService, needs_api_key: needs, base_url: usual } = chosen;
  const busy = hands.isBusy(ADD);
  const page = keyPageOf(type);
  const submit = (event: Event) => {
    event.preventDefault();
    if (!busy) begin(hands, event.currentTarget as HTMLFormElement, chosen);
  };
  return [
    h(
      "form",
      { on: { submit }, "aria-label": "Add a provider", class: "add-provider" },
      types(hands, type),
      h("p.soft", { key: "where", id: "where" }, type === OWN ? undefined : placeSign(!isService, isService ? "Leaves this machine" : "On this machine"), whereWords(type, name, isService)),
      usual === undefined ? address("", true) : undefined,
      // A field for each type: what was typed for one service goes to no other.
      h("div", { key: `key ${type}` }, keyField(needs, page)),
      h("details", { key: `more ${type}` }, h("summary", {}, "More"), usual === undefined ? undefined : address(usual, false), nameField()),
      h("p.buttons", {}, h("button.primary", { type: "submit", id: "add-provider", "aria-disabled": busy ? "true" : undefined }, busy ? "Adding and checking…" : "Add and check")),
    ),
    failure(hands, ADD),
    typedCommand(hands),
  ];
}

function types(hands: Hands, type: string): VNode {
  const { local, remote } = hands.state.providers.types;
  const option = ({ type: one, name }: ProviderType) => h("option", { value: one, key: one }, one === OWN ? "Another endpoint that speaks OpenAI's format" : visible(name).text);
  const change = ({ target }: Event) => know(hands, { type: (target as HTMLSelectElement).value });
  return field({ id: "provider-type", label: "Service or program" }, (props) =>
    h(
      "select",
      { ...props, value: type, on: { change } },
      h("optgroup", { label: "Services (what you write leaves this machine)" }, ...remote.map(option)),
      h("optgroup", { label: "Your own endpoint" }, ...local.filter((one) => one.type === OWN).map(option)),
      h("optgroup", { label: "Programs on this machine" }, ...local.filter((one) => one.type !== OWN).map(option)),
    ),
  );
}

function address(usual: string, needed: boolean): VNode {
  return field({ id: "provider-url", label: "Address", about: "https://…, or http://… on this machine.", needed }, (props) =>
    h("input", { type: "text", name: "url", inputmode: "url", autocomplete: "off", spellcheck: "false", placeholder: usual === "" ? "https://example.com/v1" : usual, required: needed, ...props }),
  );
}

function keyField(needs: boolean, page: string | undefined): VNode {
  const about = h("span", {}, "Harbor keeps it with your secrets, and shows it to nobody. ", page === undefined ? undefined : h("a", { href: page, target: "_blank", rel: "noopener noreferrer" }, "Get a key"));
  return field({ id: "provider-key", label: needs ? "Key" : "Key, where it wants one", about, needed: needs }, (props) => h("input", { type: "password", name: "key", autocomplete: "off", required: needs, ...props }));
}

function nameField(): VNode {
  return field({ id: "provider-name", label: "Name", about: "What you call it here." }, (props) => h("input", { type: "text", name: "name", autocomplete: "off", maxlength: 64, ...props }));
}

function begin(hands: Hands, form: HTMLFormElement, { type }: ProviderType): void {
  const input = (name: string) => form.elements.namedItem(name) as HTMLInputElement;
  const [url, name] = [input("url").value.trim(), input("name").value.trim()];
  const asked = { provider_type: type, ...(url === "" ? {} : { base_url: url }), ...(name === "" ? {} : { name }) };
  hands.act(ADD, async () => {
    const id = await add(hands, asked, input("key")).catch((error: unknown) => {
      throw withoutSwitches(error, asked);
    });
    for (const one of ["url", "name"]) input(one).value = "";
    const answer = hands.state.providers.checks[id];
    hands.say(answer?.available === true ? `${id} is added and answers` : `${id} is added, but does not answer yet`);
    if (answer?.cause === "unauthorized") focus(`[data-provider="${id}"] input[name="key"]`);
  });
}

/** An address, or a program, that is only taken with a switch: the panel has none, so its failure says what to type instead. */
export function withoutSwitches(error: unknown, asked: Requests["llm_add_provider"]): unknown {
  if (!(error instanceof CodedError)) return error;
  const [, option] = /\b(allow_private|allow_other_user)\b/.exec(error.message) ?? (/unencrypted/.test(error.message) ? ["", "allow_private"] : []);
  if (option === undefined) return error;
  const { provider_type: type, base_url: url, name } = asked;
  const words = ["harbor", "models", "add", type, ...(name === undefined ? [] : ["--name", name]), ...(url === undefined ? [] : ["--url", url]), `--${option.replaceAll("_", "-")}`];
  return new CodedError(error.code, error.message, { typed: words.map(shellWord).join(" ") });
}

function typedCommand(hands: Hands): Child {
  const { details } = Object(hands.state.acts[ADD]) as { details?: unknown };
  const { typed } = Object(details) as { typed?: unknown };
  if (typeof typed !== "string") return undefined;
  return h("div", { key: "typed" }, h("p.soft", {}, "To add it anyway, run this in a terminal. You give it its key here afterwards."), command(typed, hands));
}
