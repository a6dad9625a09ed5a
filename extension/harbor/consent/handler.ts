// Answers the page of a question.
//
// Owns the three requests of that page. Must never be given to a port that is not of consent.html, or take an answer to another question than
// the one that this port was shown: a window that has outlived its background would answer whichever question has its number now.

import type { Handler } from "../../shared/ports/answerer.ts";
import { CodedError } from "../../shared/protocol/codes.ts";
import type { Asking } from "../asking.ts";
import { type QuestionView, parseDecision } from "../own.ts";

/** `tell`: gives the page what its question has become. `whole`: all arguments of the call that a question of the bridge is about. */
export function consentHandler(asking: Pick<Asking, "view" | "decide">, tell: (view: QuestionView) => void, whole: (approvalId: string) => Promise<unknown>): Handler {
  let shown: number | undefined;
  return async (type, payload) => {
    const id = Number(payload["id"]);
    if (type === "question") {
      const view = asking.view(id, tell);
      shown = view?.id;
      if (view !== undefined) return view;
    } else if (type === "answer" && id === shown) {
      const decision = parseDecision(payload["decision"]);
      if (decision !== undefined && asking.decide(id, decision)) return {};
    } else if (type === "whole" && id === shown) {
      const call = asking.view(id)?.call;
      if (call !== undefined) return { arguments: await whole(call.id) };
    }
    throw new CodedError("ERR_INVALID_REQUEST", "there is no such question any more");
  };
}
