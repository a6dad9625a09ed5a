// The chat in the panel as tests use it: a panel with a new chat, and a model that says back what it is told.
//
// Owns nothing but the model, which ends with the test.

import { Echo } from "./echo.ts";
import { Sidebar } from "./sidebar.ts";
import type { World } from "./world.ts";

/** Does `work` with a panel that shows a new chat, and the model. */
export async function talking(world: World, work: (panel: Sidebar, echo: Echo) => Promise<void>): Promise<void> {
  const echo = await Echo.start(world.harbor);
  try {
    const panel = await Sidebar.open(world.browser, "chat");
    await panel.says("#model-menu summary", /echo/);
    await work(panel, echo);
  } finally {
    await echo.end();
  }
}

/** Types a message and sends it. */
export async function say(panel: Sidebar, text: string): Promise<void> {
  await panel.type("#say-text", text);
  await panel.click("#send");
}

/** The place of the chat that is shown. */
export const placeOf = async (panel: Sidebar): Promise<string> => ((await panel.page.run("return location.hash")) as string).slice(1);
