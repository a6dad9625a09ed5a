// Which servers wait for secrets.
//
// Owns when that is asked: for a server that does not run, once for each of its states. Must never see a secret.

import type { Hands } from "./hands.ts";

/** Asks which servers wait for secrets, one after the other: those that do not run, once for each of their states. */
export class Missing {
  readonly #asked = new Map<string, string>();
  #turn: Promise<unknown> = Promise.resolve();

  look(hands: Hands): void {
    for (const { server_id: id, state, since } of hands.state.servers ?? []) {
      const as = `${state} ${since}`;
      if ((state !== "stopped" && state !== "failed") || this.#asked.get(id) === as) continue;
      this.#asked.set(id, as);
      this.#turn = this.#turn.then(async () => {
        // It may be gone, or the connection: then there is nothing to be said of it.
        const status = await hands.ask("get_credential_status", { server_id: id }).catch(() => undefined);
        if (status === undefined) this.#asked.delete(id);
        else if (hands.state.servers?.some(({ server_id }) => server_id === id)) hands.change({ missing: { ...hands.state.missing, [id]: status.status.missing } });
      });
    }
  }
}
