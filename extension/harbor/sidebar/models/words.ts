// What is said of providers and models.
//
// Pure. Where a model runs is always said. Must never name a price that nobody knows, nor call a provider ready that has refused.

import type { Model, Provider } from "../../../shared/protocol/generated/messages.ts";
import { type VNode, h } from "../dom.ts";
import { dollars } from "../money.ts";
import { hostOf } from "../site.ts";
import type { Tone } from "../words.ts";
import type { Checked } from "./known.ts";

/** From so many models on there is a search. */
export const MANY = 8;

/** The type for an address of one's own. */
export const OWN = "openai-compatible";

export function placeWords({ is_local: local }: Pick<Model, "is_local">): string {
  return local ? "On this machine" : "Leaves this machine";
}

/** What somebody is to know who has none. */
export function whatAModelIs(): VNode[] {
  return [
    h("p", { key: "what" }, "A model is the program that writes the answers. It asks for your tools, and what they do is up to you."),
    h("p.soft", { key: "stays" }, "With a model on this machine, what you write stays here. A service gets what you write, and what tools answer."),
  ];
}

/** Where a provider of this type runs, before it is added. */
export function whereWords(type: string, name: string, isService: boolean): string {
  if (type === OWN) return "At the address that you give. What you write stays here only if that is an address of this machine, such as http://127.0.0.1:8080/v1.";
  if (isService) return `Leaves this machine: ${name} gets what you write, and what tools answer.`;
  return "On this machine: what you write stays here.";
}

/** How a provider stands. `said`: the provider's own words. */
export interface Standing {
  tone: Tone;
  words: string;
  said?: string;
}

export function standingOf(provider: Provider, checked?: Checked): Standing {
  const { enabled, needs_api_key: needs, has_api_key: has, problem } = provider;
  if (!enabled) return { tone: "idle", words: "Switched off" };
  if (needs && !has) return { tone: "warn", words: "Needs a key" };
  // The list is newer than a check: every look at its models renews it.
  if (problem !== undefined) return { tone: "bad", words: causeWords(checked?.available === false ? checked.cause : undefined, has), said: problem };
  if (checked?.available === true) return { tone: "good", words: `Answers${has ? ", and takes the key" : ""} (${checked.latency_ms} ms)` };
  return { tone: "good", words: "Ready" };
}

const CAUSES: { [cause: string]: string } = {
  quota: "The account there has no credit left",
  rate_limited: "Gets too many requests. Try again later",
  overloaded: "Is overloaded. Try again later",
  refused: "Refused the request",
  not_found: "Nothing answers at this address as a model service does. Check the address",
  unreachable: "Cannot be reached. Check that it runs, its address, and your network",
  timeout: "Did not answer in time",
  protocol: "Answered what Harbor cannot read. Check the address",
  cut: "Broke off its answer",
};

/** Why a check failed, as a person says it. */
export function causeWords(cause: string | undefined, hasKey: boolean): string {
  if (cause === "unauthorized") return hasKey ? "Does not take the key" : "Wants a key";
  return CAUSES[cause ?? ""] ?? "Did not answer as it should";
}

export function windowWords(tokens: number): string {
  return tokens < 1_000 ? `${tokens} tokens` : `${Math.round(tokens / 1_000).toLocaleString("en")}k tokens`;
}

/** What a model can, as far as its provider says so. */
export function marksOf({ context_window: window, tools, vision, reasoning }: Model): string[] {
  const marks = [
    window === undefined ? undefined : windowWords(window),
    tools === undefined ? undefined : tools ? "tools" : "no tools",
    vision === undefined ? undefined : vision ? "sees pictures" : "no pictures",
    reasoning === true ? "thinks first" : undefined,
  ];
  return marks.filter((mark) => mark !== undefined);
}

/** What a million tokens of a model cost. */
export function priceWords({ is_local: local, input_price: input, output_price: output }: Pick<Model, "is_local" | "input_price" | "output_price">): string {
  if (local) return "free";
  return input === undefined || output === undefined ? "price unknown" : `${dollars(input)} in, ${dollars(output)} out a million tokens`;
}

/** The models that have all words of a search in their ids. */
export function matching(models: Model[], query: string): Model[] {
  const words = query.toLowerCase().split(/\s+/).filter((word) => word !== "");
  return models.filter(({ id }) => words.every((word) => id.toLowerCase().includes(word)));
}

/** Who asked. */
export function whoWords(principal: string): string {
  if (principal === "owner") return "You";
  if (principal === "*") return "Everybody together";
  if (principal.startsWith("server:")) return `${principal.slice("server:".length)} (a server)`;
  return hostOf(principal);
}

/** Where people make a key for a service. */
const KEY_PAGES: { [type: string]: string } = {
  openai: "https://platform.openai.com/api-keys",
  anthropic: "https://console.anthropic.com/settings/keys",
  openrouter: "https://openrouter.ai/keys",
  mistral: "https://console.mistral.ai/api-keys",
  groq: "https://console.groq.com/keys",
  deepseek: "https://platform.deepseek.com/api_keys",
  gemini: "https://aistudio.google.com/apikey",
};

export function keyPageOf(type: string): string | undefined {
  return Object.hasOwn(KEY_PAGES, type) ? KEY_PAGES[type] : undefined;
}
