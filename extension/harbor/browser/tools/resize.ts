// `browser_resize`: the size of the tab's window. The person sees it.

import { resizeWindow } from "../../../shared/browser/tabs.ts";
import { ToolError, numbers } from "../call.ts";
import { type Hand, type Tool, now } from "../hand.ts";

export const resize: Tool = async (hand) => {
  const [width, height] = [numbers(hand.args, "width"), numbers(hand.args, "height")];
  if (width === undefined || height === undefined) throw new ToolError("width and height are needed, in pixels");
  const within = (size: number) => Math.min(Math.max(Math.round(size), 200), 4_000);
  const tab = await now(hand);
  const before = await widthOf(hand);
  await resizeWindow(tab.windowId, within(width), within(height)).catch((error: unknown) => {
    throw new ToolError(`the browser does not give its window this size: ${error instanceof Error ? error.message : String(error)}`);
  });
  const isLater = !tab.active && within(width) !== before && (await widthOf(hand)) === before;
  return { said: `The window is ${within(width)}×${within(height)} pixels.${isLater ? " This tab is not shown in it: its page takes that size when it is." : ""}` };
};

/** How wide the page is by its own word. */
const widthOf = async ({ documents, tab }: Hand): Promise<number> => (await documents.run(tab.id, 0, "place", {})).windowWidth;
