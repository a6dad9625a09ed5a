// `browser_click`.

import { isOn, lists, needed, placesIn, texts } from "../call.ts";
import { type Tool, acted } from "../hand.ts";

export const click: Tool = (hand) => {
  const { args } = hand;
  const target = needed(args, "target");
  const button = (texts(args, "button") ?? "left") as "left" | "right" | "middle";
  return acted(hand, "Clicked.", target, "click", { target, button, count: isOn(args, "doubleClick") ? 2 : 1, modifiers: lists(args, "modifiers"), at: placesIn(args, "position") });
};
