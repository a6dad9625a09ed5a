// `browser_resize`: the size of the tab's window. The person sees it.

import { resizeWindow } from "../../../shared/browser/tabs.ts";
import { ToolError, numbers } from "../call.ts";
import { type Tool, now } from "../hand.ts";

export const resize: Tool = async (hand) => {
  const [width, height] = [numbers(hand.args, "width"), numbers(hand.args, "height")];
  if (width === undefined || height === undefined) throw new ToolError("width and height are needed, in pixels");
  const within = (size: number) => Math.min(Math.max(Math.round(size), 200), 4_000);
  await resizeWindow((await now(hand)).windowId, within(width), within(height));
  return { said: `The window is ${within(width)}×${within(height)} pixels.` };
};
