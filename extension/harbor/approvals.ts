// Questions about calls, as the bridge asks them: each that concerns this browser gets a window, and its answer goes back.
//
//   approval push ─┬─ of a page or run of this connection, or of an AI client ─► window ─► approvals_answer
//                  └─ of a chat ─► the panel lists it
//
// Owns which questions have a window here. Must never decide whether a call is asked about, nor answer for the person: a window that is
// closed is a no to this one question.

import type { NativeClient } from "../shared/native/client.ts";
import { CodedError } from "../shared/protocol/codes.ts";
import type { Approval, Pushes } from "../shared/protocol/generated/messages.ts";
import type { Asking } from "./asking.ts";
import type { Decision } from "./grants.ts";

type Bridge = Pick<NativeClient, "request" | "onState" | "onPush" | "state">;

export class Approvals {
  readonly #bridge: Bridge;
  readonly #asking: Pick<Asking, "confirm">;
  readonly #acted: () => void;
  readonly #open = new Map<string, AbortController>();

  /** `acted`: is called when an answer has gone to the bridge. */
  constructor(bridge: Bridge, asking: Pick<Asking, "confirm">, acted: () => void) {
    [this.#bridge, this.#asking, this.#acted] = [bridge, asking, acted];
    bridge.onState(() => this.#stateChanged());
    bridge.onPush((type, fields) => {
      if (type === "approval") this.#heard(fields as unknown as Pushes["approval"]);
    });
  }

  /** A new connection hears of all that waits; what an old one heard of has ended with it. */
  #stateChanged(): void {
    if (this.#bridge.state.is !== "ready") {
      for (const controller of this.#open.values()) controller.abort();
      return;
    }
    void this.#bridge.request("approvals_watch", {}).catch(unlessKnown);
  }

  #heard({ approval, waits }: Pushes["approval"]): void {
    if (!waits) this.#open.get(approval.id)?.abort();
    else if (isShown(approval) && !this.#open.has(approval.id)) void this.#ask(approval);
  }

  async #ask(approval: Approval): Promise<void> {
    const controller = new AbortController();
    this.#open.set(approval.id, controller);
    const view = { origin: approval.principal, scopes: [], servers: [], named: false, call: approval };
    try {
      const decision = await this.#asking.confirm(view, controller.signal);
      await this.#bridge.request("approvals_answer", { approval_id: approval.id, answer: answerOf(decision, approval) });
      this.#acted();
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
