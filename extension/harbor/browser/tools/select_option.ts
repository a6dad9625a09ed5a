// `browser_select_option`.

import { lists, needed } from "../call.ts";
import { type Tool, acted } from "../hand.ts";

export const selectOption: Tool = (hand) => {
  const target = needed(hand.args, "target");
  return acted(hand, "Chosen.", target, "select", { target, values: lists(hand.args, "values") });
};
