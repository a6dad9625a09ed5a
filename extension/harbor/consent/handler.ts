// Answers the page of a question.
//
// Owns the two requests of that page. Must never be given to a port that is not of consent.html.

import type { Handler } from "../../shared/ports/answerer.ts";
import { CodedError } from "../../shared/protocol/codes.ts";
import type { Asking } from "../asking.ts";
import { parseDecision } from "../own.ts";

export function consentHandler(asking: Pick<Asking, "view" | "decide">): Handler {
  return async (type, payload) => {
    const id = Number(payload["id"]);
    if (type === "question") {
      const view = asking.view(id);
      if (view !== undefined) return view;
    } else if (type === "answer") {
      const decision = parseDecision(payload["decision"]);
      if (decision !== undefined && asking.decide(id, decision)) return {};
    }
    throw new CodedError("ERR_INVALID_REQUEST", "there is no such question any more");
  };
}
