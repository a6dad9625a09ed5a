// What the provider that is used says of its models, remembered for a moment: pages ask again and again how they stand to it.
//
// Owns that memory. Must never keep what a provider said before the person changed it, or that it said nothing.

import type { NativeClient } from "../shared/native/client.ts";
import type { Model } from "../shared/protocol/generated/messages.ts";

/** How long. */
const FRESH_MS = 10_000;

/** How long a page waits for a provider to say it. */
const PATIENCE_MS = 1_000;

type Bridge = Pick<NativeClient, "request">;

export class ModelLists {
  readonly #now: () => number;
  #known: { bridge: Bridge; provider: string; at: number; models: Promise<Model[] | undefined> } | undefined;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The models of this provider; none where it takes too long to say. */
  async of(bridge: Bridge, id: string): Promise<Model[]> {
    const { providers } = await bridge.request("llm_list_providers", {});
    // Whether it answered when it was last asked is nothing that the person changes.
    const provider = JSON.stringify({ ...providers.find((one) => one.id === id), available: undefined });
    const known = this.#known;
    const isSame = known?.bridge === bridge && known.provider === provider && this.#now() - known.at < FRESH_MS;
    return (await (isSame ? known.models : this.#asked(bridge, id, provider))) ?? [];
  }

  #asked(bridge: Bridge, id: string, provider: string): Promise<Model[] | undefined> {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const models = bridge.request("llm_list_models_for", { provider_id: id }, { signal }).then(
      (reply) => reply.models,
      () => {
        if (this.#known?.models === models) this.#known = undefined;
        return undefined;
      },
    );
    this.#known = { bridge, provider, at: this.#now(), models };
    return models;
  }
}
