// Turns that go on while no panel shows them: when one ends, the person is told.
//
//   events of a chat ─► under way or over
//   its last panel is gone ─┬─ over ──────► not followed any more
//                           └─ under way ─► its end ─► a notice
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
  /** Chats whose turn is under way, as far as a panel has followed them. */
  readonly #underWay = new Set<string>();
  /** Chats that no panel shows, each with what lets the connection go. */
  readonly #alone = new Map<string, () => void>();

  constructor(bridge: Bridge, tell: (session: string, end: TurnEnd) => void) {
    [this.#bridge, this.#tell] = [bridge, tell];
    bridge.onState(() => {
      if (bridge.state.is === "ready") return;
      this.#underWay.clear();
      for (const id of [...this.#alone.keys()]) this.shown(id);
    });
    bridge.onPush((type, fields) => {
      if (type === "chat_event") this.#heard(fields as unknown as Pushes["chat_event"]);
    });
  }

  /** No panel shows this chat any more. */
  left(session_id: string): void {
    if (this.#bridge.state.is !== "ready" || this.#alone.has(session_id)) return;
    if (this.#underWay.has(session_id)) this.#alone.set(session_id, this.#bridge.watch());
    else this.#unfollow(session_id);
  }

  /** A panel shows it again, and follows it itself. */
  shown(session_id: string): void {
    this.#alone.get(session_id)?.();
    this.#alone.delete(session_id);
  }

  #heard({ session_id, event }: Pushes["chat_event"]): void {
    if (event.type !== "final" && event.type !== "error") {
      this.#underWay.add(session_id);
      return;
    }
    this.#underWay.delete(session_id);
    if (!this.#alone.has(session_id)) return;
    this.shown(session_id);
    this.#unfollow(session_id);
    if (event.code !== "stopped") this.#tell(session_id, event.type === "final" ? "answered" : "failed");
  }

  #unfollow(session_id: string): void {
    void this.#bridge.request("chat_watch", { session_id, watch: false }).catch(() => undefined);
  }
}
