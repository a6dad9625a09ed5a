// What is asked of the bridge about models, and what becomes of the answers.
//
// Owns the order: a list of providers is quick, their models may take as long as the slowest of them. A key goes through here once, in a
// request. Must never put one into the state.

import { CodedError } from "../../../shared/protocol/codes.ts";
import type { Provider, Requests } from "../../../shared/protocol/generated/messages.ts";
import type { Hands } from "../hands.ts";
import type { Providers } from "./known.ts";

const READ = "providers";
export const DETECT = "find models";

export function know(hands: Hands, patch: Partial<Providers>): void {
  hands.change({ providers: { ...hands.state.providers, ...patch } });
}

/** Which models there are, and which one is used where none is chosen. */
export async function readModels(hands: Hands, signal?: AbortSignal): Promise<void> {
  const { active, model } = await hands.ask("llm_get_active", {}, { signal });
  const { models } = await hands.ask("llm_list_models", {}, { signal });
  const first = models.find(({ provider }) => provider === active);
  const chosen = model === undefined || active === undefined ? first?.id : `${active}:${model}`;
  hands.change({ models: { list: models, chosen } });
}

/** Which providers were added, and which can be. */
export async function readProviders(hands: Hands, signal?: AbortSignal): Promise<void> {
  const [{ providers: list }, { local, remote }] = await Promise.all([hands.ask("llm_list_providers", {}, { signal }), hands.ask("llm_get_supported_providers", {}, { signal })]);
  know(hands, { list, types: { local, remote } });
}

async function readAll(hands: Hands, signal?: AbortSignal): Promise<void> {
  await readProviders(hands, signal);
  await readModels(hands, signal);
  // Each was asked for its models: some have said why not.
  await readProviders(hands, signal);
}

export function loadProviders(hands: Hands, left?: AbortSignal): void {
  hands.read(READ, (signal) => readAll(hands, signal), left);
}

export const providersFailed = READ;

/** Looks for programs on this machine that run models. */
export function detect(hands: Hands, left?: AbortSignal): void {
  hands.read(
    DETECT,
    async (signal) => {
      const { providers, environment } = await hands.ask("llm_detect", {}, { signal });
      know(hands, { found: { list: providers.filter(({ is_added }) => !is_added), variables: environment } });
    },
    left,
  );
}

/** How far back usage is shown. */
const USAGE_MS = 30 * 24 * 60 * 60 * 1_000;

/** So many chats are asked for. */
const CHATS = 30;

export function loadUsage(hands: Hands, left?: AbortSignal): void {
  hands.read(
    "usage",
    async (signal) => {
      const since = Date.now() - USAGE_MS;
      const by = async (group_by: string) => (await hands.ask("llm_usage", { since, group_by }, { signal })).usage;
      const [days, principals, { sessions: chats }] = await Promise.all([by("day"), by("principal"), hands.ask("chat_list_sessions", { limit: CHATS }, { signal })]);
      know(hands, { usage: { days, principals, chats } });
    },
    left,
  );
}

export const useOf = ({ base_url }: Pick<Provider, "base_url">) => `use ${base_url}`;

/** Adds what was found, and has it answer from now on. */
export function use(hands: Hands, found: Provider): void {
  hands.act(useOf(found), async () => {
    const { id } = await hands.ask("llm_add_provider", { provider_type: found.type, base_url: found.base_url });
    // One that wants a key says so beside the field for it.
    if (found.needs_api_key) await checked(hands, id);
    else await hands.ask("llm_set_active", { provider_id: id });
    await readAll(hands);
    detect(hands);
    hands.say(found.needs_api_key ? `${found.name} is added, and wants a key` : `${found.name} answers from now on`);
  });
}

/** A control that holds a key until it is taken, once. */
export interface KeyField {
  value: string;
}

export function takeKey(field: KeyField): string {
  const { value } = field;
  field.value = "";
  return value.trim();
}

/** Adds a provider. Its key is taken from its field when the address was accepted, so that it is typed once. The provider's id. */
export async function add(hands: Hands, asked: Requests["llm_add_provider"], field: KeyField): Promise<string> {
  const { id } = await hands.ask("llm_add_provider", asked);
  try {
    const api_key = takeKey(field);
    if (api_key !== "") await hands.ask("llm_set_api_key", { provider_id: id, api_key });
    await checked(hands, id);
  } finally {
    // It is added, whatever came after that.
    await readAll(hands);
  }
  return id;
}

export const checkOf = (id: string) => `check ${id}`;

async function checked(hands: Hands, id: string): Promise<void> {
  const answer = await hands.ask("llm_check_provider", { provider_id: id });
  know(hands, { checks: { ...hands.state.providers.checks, [id]: answer } });
  // Whoever has no model yet wants this one.
  if (answer.available && hands.state.models?.list.length === 0) await hands.ask("llm_set_active", { provider_id: id });
}

/** Asks a provider whether it takes its key. */
export function check(hands: Hands, id: string): void {
  hands.act(checkOf(id), async () => {
    await checked(hands, id);
    await readAll(hands);
  });
}

export const keyOf = (id: string) => `key of ${id}`;

export function setKey(hands: Hands, id: string, field: KeyField): void {
  const api_key = takeKey(field);
  hands.act(keyOf(id), async () => {
    if (api_key === "") throw new CodedError("ERR_INVALID_REQUEST", "no key was typed: paste it into the field");
    await hands.ask("llm_set_api_key", { provider_id: id, api_key });
    await checked(hands, id);
    await readAll(hands);
  });
}

export function removeKey(hands: Hands, id: string): void {
  hands.act(keyOf(id), async () => {
    await hands.ask("llm_remove_api_key", { provider_id: id });
    forgetCheck(hands, id);
    await readAll(hands);
    hands.say("The key is deleted");
  });
}

export function switchOn(hands: Hands, id: string): void {
  hands.act(checkOf(id), async () => {
    await hands.ask("llm_configure_provider", { id, enabled: true });
    await readAll(hands);
  });
}

export const removalOf = (id: string) => `remove ${id}`;

export function remove(hands: Hands, id: string): void {
  hands.act(removalOf(id), async () => {
    await hands.ask("llm_remove_provider", { id });
    forgetCheck(hands, id);
    know(hands, { removing: undefined });
    await readAll(hands);
    // One of this machine can be found again.
    detect(hands);
    hands.say(`${id} is removed`);
  });
}

function forgetCheck(hands: Hands, id: string): void {
  const { [id]: _, ...checks } = hands.state.providers.checks;
  know(hands, { checks });
}

export const CHOOSE = "choose default model";

/** The model that answers where none is chosen. */
export function choose(hands: Hands, id: string): void {
  hands.act(CHOOSE, async () => {
    const model = hands.state.models?.list.find((one) => one.id === id);
    if (model === undefined) return;
    await hands.ask("llm_set_active", { provider_id: model.provider, model_id: model.model });
    await readModels(hands);
  });
}
