// The model that a site would use: which it is, where it runs, and what the site may use of it today.
//
// Pure but for the bridge that it asks. Must never call a model one of this machine where nobody knows that.

import type { NativeClient } from "../shared/native/client.ts";
import type { AskedModel } from "./own.ts";

type Bridge = Pick<NativeClient, "request">;

/** How long a question waits for a provider to say which models it has. */
const PATIENCE_MS = 500;

/** What the person is shown of the model that is used where none is named; `undefined` where there is none. */
export async function modelFor(bridge: Bridge, origin: string): Promise<AskedModel | undefined> {
  const [{ active, model }, { providers }, { budgets, of_an_origin }] = await Promise.all([
    bridge.request("llm_get_active", {}),
    bridge.request("llm_list_providers", {}),
    bridge.request("llm_list_budgets", {}),
  ]);
  const provider = providers.find(({ id, enabled }) => id === active && enabled);
  if (provider === undefined) return undefined;
  const listed = await modelsOf(bridge, provider.id);
  const known = model === undefined ? listed[0] : listed.find((one) => one.model === model);
  const budget = budgets.find(({ principal }) => principal === origin);
  // Some models of a program on this machine run elsewhere.
  const here = provider.is_local && (known?.is_local ?? true);
  const name = model ?? known?.model;
  const limit = budget === undefined ? of_an_origin : budget.tokens_per_day;
  return {
    provider: provider.name,
    here,
    used: budget?.used ?? 0,
    ...(name === undefined ? {} : { name }),
    ...(limit === undefined ? {} : { budget: limit }),
  };
}

async function modelsOf(bridge: Bridge, provider: string) {
  // A provider that is not there is asked about, too: the person sees its name.
  const signal = AbortSignal.timeout(PATIENCE_MS);
  return (await bridge.request("llm_list_models_for", { provider_id: provider }, { signal }).catch(() => undefined))?.models ?? [];
}
