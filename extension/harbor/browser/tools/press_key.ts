// `browser_press_key`: a key where the focus is.

import { needed, numbers } from "../call.ts";
import { type Tool, acted } from "../hand.ts";

export const pressKey: Tool = (hand) => {
  const times = Math.min(Math.max(numbers(hand.args, "repeat") ?? 1, 1), 100);
  return acted(hand, "Pressed.", undefined, "key", { key: needed(hand.args, "key"), times });
};
