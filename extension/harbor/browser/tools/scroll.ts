// `browser_scroll`: an element into view, or a box by so much.

import { numbers, texts } from "../call.ts";
import { type Tool, acted } from "../hand.ts";

export const scroll: Tool = (hand) => {
  const { args } = hand;
  const target = texts(args, "target");
  const direction = texts(args, "direction");
  const amount = numbers(args, "amount") ?? 600;
  const way: { [direction: string]: [number, number] } = { down: [0, amount], up: [0, -amount], right: [amount, 0], left: [-amount, 0] };
  const [x, y] = way[direction ?? ""] ?? (target === undefined ? [0, amount] : [0, 0]);
  const to = texts(args, "to");
  return acted(hand, "Scrolled.", target, "scroll", { target, to: to === "top" || to === "bottom" ? to : undefined, x, y });
};
