// Questions about calls, as the bridge asks them: each that concerns this browser gets a window, and its answer goes back.
//
//   approval push ─┬─ of a page or run of this connection, or of an AI client ─► window ─► approvals_answer
//                  └─ of a chat ─► the panel lists it
//
// Owns which questions have a window here, and how many wait. Must never decide whether a call is asked about, nor answer for the
// person: a window that is closed is a no to this one question, and a site that got no yes three times is not asked about for a while.

import type { NativeClient } from "../shared/native/client.ts";
import { CodedError } from "../shared/protocol/codes.ts";
import type { Approval, Pushes } from "../shared/protocol/generated/messages.ts";
import { type Asking, ELSEWHERE } from "./asking.ts";
import type { Decision } from "./grants.ts";

type Bridge = Pick<NativeClient, "request" | "onState" | "onPush" | "state">;

/** Who hears of it. */
export interface Told {
  /** An answer has gone to the bridge. */
  acted(): void;
  /** So many questions wait for the person, wherever they are answered. */
  waiting(many: number): void;
}

export class Approvals {
  readonly #bridge: Bridge;
  readonly #asking: Pick<Asking, "confirm">;
  readonly #tell: Told;
  readonly #open = new Map<string, AbortController>();
  /** All that wait, with a window or without one. */
  readonly #waiting = new Set<string>();

  constructor(bridge: Bridge, asking: Pick<Asking, "confirm">, tell: Told) {
    [this.#bridge, this.#asking, this.#tell] = [bridge, asking, tell];
    bridge.onState(() => this.#stateChanged());
    bridge.onPush((type, fields) => {
      if (type === "approval") this.#heard(fields as unknown as Pushes["approval"]);
    });
  }

  /** The person answers it in the panel: its window goes, and the site has not taken it back. */
  answered(id: string): void {
    this.#open.get(id)?.abort(ELSEWHERE);
  }

  /** A new connection hears of all that waits; what an old one heard of has ended with it. */
  #stateChanged(): void {
    if (this.#bridge.state.is !== "ready") {
      for (const controller of this.#open.values()) controller.abort(ELSEWHERE);
      this.#waiting.clear();
      this.#tell.waiting(0);
      return;
    }
    void this.#bridge.request("approvals_watch", {}).catch(unlessKnown);
  }

  #heard({ approval, waits }: Pushes["approval"]): void {
    if (waits) this.#waiting.add(approval.id);
    else this.#waiting.delete(approval.id);
    this.#tell.waiting(this.#waiting.size);
    // A yes in another place is nothing that its site has taken back.
    if (!waits) this.#open.get(approval.id)?.abort(approval.state === "answered" ? ELSEWHERE : undefined);
    else if (isShown(approval) && !this.#open.has(approval.id)) void this.#ask(approval);
  }

  async #ask(approval: Approval): Promise<void> {
    const controller = new AbortController();
    this.#open.set(approval.id, controller);
    const view = { origin: approval.principal, scopes: [], servers: [], named: false, call: approval };
    try {
      const decision = await this.#asking.confirm(view, controller.signal);
      // No window may open for a while. The person has not denied it, and the panel lists it.
      if (decision === "refused" && approval.who === "client") return;
      await this.#bridge.request("approvals_answer", { approval_id: approval.id, answer: answerOf(decision, approval) });
      this.#tell.acted();
    } catch (error) {
      if (!controller.signal.aborted) unlessKnown(error);
    } finally {
      this.#open.delete(approval.id);
    }
  }
}

/** Whether a question gets a window in this browser: a chat's is asked where the chat is. */
function isShown({ who, own }: Approval): boolean {
  return who === "client" || ((who === "page" || who === "run") && own === true);
}

/** What a decision says of those answers that the question offers. */
function answerOf(decision: Decision | "refused", { answers }: Approval): string {
  const said = decision === "refused" ? undefined : decision.answer;
  return said !== undefined && answers.includes(said) ? said : "no";
}

/** A connection that is lost takes its questions with it. */
function unlessKnown(error: unknown): void {
  if (!(error instanceof CodedError)) console.error("a question about a call has no answer", error);
}
