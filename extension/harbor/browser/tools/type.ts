// `browser_type`: text into a field, and what stands there afterwards.

import { isOn, needed, textOrSecret } from "../call.ts";
import { type Tool, acted } from "../hand.ts";

export const type: Tool = (hand) => {
  const { args } = hand;
  const target = needed(args, "target");
  const options = { target, ...textOrSecret(args, "text"), submit: isOn(args, "submit"), slowly: isOn(args, "slowly"), replace: true };
  return acted(hand, "Typed.", target, "type", options);
};
