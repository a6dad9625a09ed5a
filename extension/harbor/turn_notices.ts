// Turns that go on while no panel shows them: when one ends, the person is told.
//
//   the last panel of a chat is gone ─► chat_watch ─┬─ no turn ─► nothing more
//                                                   └─ a turn ──► its end ─► a notice
//
// Owns which chats are followed for that, and keeps the connection up meanwhile. Must never tell more than that an answer is there: a
// notice is seen by whoever looks at the screen.

import type { NativeClient } from "../shared/native/client.ts";
import type { Pushes } from "../shared/protocol/generated/messages.ts";

type Bridge = Pick<NativeClient, "request" | "watch" | "onState" | "onPush" | "state">;

export type TurnEnd = "answered" | "failed";

export class TurnNotices {
  readonly #bridge: Bridge;
  readonly #tell: (session: string, end: TurnEnd) => void;
  /** The turn that is waited for in each chat, once it is known, and what lets the connection go. */
  readonly #followed = new Map<string, { turn?: string; letGo(): void }>();

  constructor(bridge: Bridge, tell: (session: string, end: TurnEnd) => void) {
    [this.#bridge, this.#tell] = [bridge, tell];
    bridge.onState(() => {
      if (bridge.state.is !== "ready") for (const id of [...this.#followed.keys()]) this.shown(id);
    });
    bridge.onPush((type, fields) => {
      if (type === "chat_event") this.#heard(fields as unknown as Pushes["chat_event"]);
    });
  }

  /** No panel shows this chat any more. */
  async left(session_id: string): Promise<void> {
    if (this.#bridge.state.is !== "ready" || this.#followed.has(session_id)) return;
    const followed: { turn?: string; letGo(): void } = { letGo: this.#bridge.watch() };
    this.#followed.set(session_id, followed);
    const { turn_id } = await this.#bridge.request("chat_watch", { session_id }).catch(() => ({ turn_id: undefined }));
    if (this.#followed.get(session_id) !== followed) return;
    if (turn_id === undefined) this.#end(session_id);
    else followed.turn = turn_id;
  }

  /** A panel shows it again, and follows it itself. */
  shown(session_id: string): void {
    this.#followed.get(session_id)?.letGo();
    this.#followed.delete(session_id);
  }

  #heard({ session_id, turn_id, event }: Pushes["chat_event"]): void {
    if (this.#followed.get(session_id)?.turn !== turn_id || (event.type !== "final" && event.type !== "error")) return;
    this.#end(session_id);
    if (event.code !== "stopped") this.#tell(session_id, event.type === "final" ? "answered" : "failed");
  }

  #end(session_id: string): void {
    this.shown(session_id);
    void this.#bridge.request("chat_watch", { session_id, watch: false }).catch(() => undefined);
  }
}
