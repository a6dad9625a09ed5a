// What a page learns of the person's models, and what it may ask them.
//
// Owns these answers. Must never tell a page more than its grants allow: without one, only whether there is a model at all; never an
// address, a key, or a name that it was not allowed to know.

import type { NativeClient } from "../shared/native/client.ts";
import type { Context } from "../shared/ports/answerer.ts";
import type { After } from "../shared/ports/caller.ts";
import { CodedError } from "../shared/protocol/codes.ts";
import type { Grant, Replies, Requests } from "../shared/protocol/generated/messages.ts";
import { type Asker, type ModelState, type PromptRequest, type ProviderInfo, PROMPT_FIELDS } from "../shared/protocol/peer.ts";
import { ModelLists } from "./model_lists.ts";
import { need } from "./needed.ts";
import { offIn } from "./off.ts";
import { parseObject } from "./parse.ts";
import { streamed } from "./streaming.ts";
import { Turns } from "./turns.ts";

const turns = new Turns();
const lists = new ModelLists(() => performance.now());

type Bridge = Pick<NativeClient, "request">;

/** How a page stands to models. `isAsking`: a question of its origin is open; `mayAsk`: a click in it could open one. */
export async function modelState(bridge: Bridge, { origin, tab }: Asker, { isAsking, mayAsk }: { isAsking: boolean; mayAsk: boolean }): Promise<ModelState> {
  const [active, { grants }, off] = await Promise.all([
    bridge.request("llm_get_active", {}),
    bridge.request("host_get_permissions", { origin, tab_id: tab }),
    offIn(bridge),
  ]);
  if (active.active === undefined || !hasModel(active) || off.includes("textGeneration")) return { state: "unavailable" };
  const word = wordOf(grants);
  if (word === "denied") return { state: "unavailable", denied: true };
  if (word === "none" && isAsking) return { state: "downloading" };
  // A page is not told to have the person click for what is then refused.
  if (word === "none") return mayAsk ? { state: "downloadable" } : { state: "unavailable", denied: true };
  return { state: "available", ...(await factsOf(bridge, active.active, active.model)) };
}

/** Whether there is a model that can be asked. One whose provider did not answer when it was last asked may answer now. */
export function hasModel({ active, status }: Replies["llm_get_active"]): boolean {
  return active !== undefined && status !== "disabled" && status !== "no_key";
}

function wordOf(grants: Grant[]): "denied" | "granted" | "none" {
  const types = grants.filter(({ scope }) => scope === "model:prompt").map(({ grant_type }) => grant_type);
  if (types.includes("DENY")) return "denied";
  return types.length > 0 ? "granted" : "none";
}

async function factsOf(bridge: Bridge, provider: string, model: string | undefined): Promise<{ window?: number; vision?: boolean }> {
  const models = await lists.of(bridge, provider);
  const known = model === undefined ? models[0] : models.find((one) => one.model === model);
  return {
    ...(known?.context_window === undefined ? {} : { window: known.context_window }),
    ...(known?.vision === undefined ? {} : { vision: known.vision }),
  };
}

/** What a model answers. Which one that is, is nothing for pages that were not told. */
export async function prompt(bridge: Bridge, { origin, tab, body, stream }: PromptRequest, context: Context, after: After): Promise<unknown> {
  const given = parseObject("body", body);
  const fields = Object.fromEntries(PROMPT_FIELDS.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])));
  // The person has allowed the model that they were shown; whoever wants another one has to be allowed to know of it.
  if (fields["model"] !== undefined || fields["provider"] !== undefined) await need(bridge, { origin, tab }, "model:list");
  // The bridge reads each of them.
  const chat = { ...fields, origin, tab_id: tab } as Requests["host_llm_chat"];
  const { signal } = context;
  return turns.take(origin, signal, async () => {
    const answer = stream ? streamed(bridge, "host_llm_chat", chat, context, after) : bridge.request("host_llm_chat", chat, { signal });
    return (await answer.catch(forPages)).response;
  });
}

/** Which providers there are besides the one that was named is nothing for pages. */
function forPages(error: unknown): never {
  if (!(error instanceof CodedError) || error.code !== "not_found") throw error;
  throw new CodedError("ERR_MODEL_FAILED", "there is no such provider", { cause: "not_found" });
}

/** The providers, as a page may see them. */
export async function providers(bridge: Bridge, { origin, tab }: Asker, signal: AbortSignal): Promise<ProviderInfo[]> {
  const [{ models }, listed] = await Promise.all([
    bridge.request("host_llm_list_models", { origin, tab_id: tab }, { signal }),
    bridge.request("llm_list_providers", {}),
  ]);
  const enabled = listed.providers.filter((provider) => provider.enabled);
  return enabled.map(({ id, type, name, available, is_default, is_type_default }) => {
    const own = models.filter(({ provider }) => provider === id);
    const tools = own.map((model) => model.tools).find((one) => one !== undefined);
    const found: ProviderInfo = { id, type, name, available, isDefault: is_default, isTypeDefault: is_type_default, models: own.map(({ model }) => model) };
    return tools === undefined ? found : { ...found, supportsTools: own.some((model) => model.tools === true) };
  });
}

/** What is used where nothing is named. */
export async function activeProvider(bridge: Bridge, asker: Asker): Promise<{ provider: string | null; model: string | null }> {
  await need(bridge, asker, "model:list");
  const { active, model } = await bridge.request("llm_get_active", {});
  return { provider: active ?? null, model: model ?? null };
}
