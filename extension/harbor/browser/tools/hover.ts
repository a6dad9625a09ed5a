// `browser_hover`.

import { needed } from "../call.ts";
import { type Tool, acted } from "../hand.ts";

export const hover: Tool = (hand) => {
  const target = needed(hand.args, "target");
  return acted(hand, "Moved over it.", target, "hover", { target });
};
