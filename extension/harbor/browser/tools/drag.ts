// `browser_drag`: one element to another.

import { ToolError, needed, placesIn } from "../call.ts";
import { type Tool, acted } from "../hand.ts";

export const drag: Tool = (hand) => {
  const [from, to] = [needed(hand.args, "startTarget"), needed(hand.args, "endTarget")];
  const { documents, tab } = hand;
  if (documents.frameOf(tab.id, from) !== documents.frameOf(tab.id, to)) throw new ToolError("both elements must be in one document");
  return acted(hand, "Dragged.", from, "drag", { from, to, fromAt: placesIn(hand.args, "startPosition"), toAt: placesIn(hand.args, "endPosition") });
};
