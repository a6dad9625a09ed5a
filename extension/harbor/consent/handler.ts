// Answers the page of a question.
//
// Owns the two requests of that page. Must never be given to a port that is not of consent.html, or take an answer to another question than
// the one that this port was shown: a window that has outlived its background would answer whichever question has its number now.

import type { Handler } from "../../shared/ports/answerer.ts";
import { CodedError } from "../../shared/protocol/codes.ts";
import type { Asking } from "../asking.ts";
import { parseDecision } from "../own.ts";

export function consentHandler(asking: Pick<Asking, "view" | "decide">): Handler {
  let shown: number | undefined;
  return async (type, payload) => {
    const id = Number(payload["id"]);
    if (type === "question") {
      const view = asking.view(id);
      shown = view?.id;
      if (view !== undefined) return view;
    } else if (type === "answer" && id === shown) {
      const decision = parseDecision(payload["decision"]);
      if (decision !== undefined && asking.decide(id, decision)) return {};
    }
    throw new CodedError("ERR_INVALID_REQUEST", "there is no such question any more");
  };
}
