// What the panel knows of providers: those that were added, those that were found, and what was asked of them.
//
// Owns the form of that. Must never have a place for a key.

import type { ChatSession, EnvironmentKey, ModelUsage, Provider, ProviderType, SetupStatus } from "../../../shared/protocol/generated/messages.ts";

/** The provider's answer to a check. */
export interface Checked {
  available: boolean;
  latency_ms: number;
  cause?: string;
  message?: string;
}

export interface Providers {
  /** Those that were added; `undefined`: not read yet. */
  list: Provider[] | undefined;
  /** What can be added: programs of this machine, and services. */
  types: { local: ProviderType[]; remote: ProviderType[] };
  /** What was found on this machine and is not added, and variables that hold a key; `undefined`: nobody has looked yet. */
  found: { list: Provider[]; variables: EnvironmentKey[] } | undefined;
  /** The last check of each provider, by its id. */
  checks: { [provider: string]: Checked };
  /** The files that Harbor has fetched, and the programs that it has started; `undefined`: not read yet. */
  own: SetupStatus | undefined;
  /** How much has come of the file that is fetched. */
  fetched: { progress: number; total?: number } | undefined;
  /** Tokens by day, by who asked, and of the chats that were used last. */
  usage: { days: ModelUsage[]; principals: ModelUsage[]; chats: ChatSession[] } | undefined;
  /** Which type the form adds; `undefined`: the first service. */
  type: string | undefined;
  /** The provider whose removal the person is asked about. */
  removing: string | undefined;
  /** What is searched for among models, by list. */
  queries: { [list: string]: string };
}

export const NO_PROVIDERS: Providers = { list: undefined, types: { local: [], remote: [] }, found: undefined, checks: {}, own: undefined, fetched: undefined, usage: undefined, type: undefined, removing: undefined, queries: {} };
