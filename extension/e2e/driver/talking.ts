// The chat in the panel as tests use it: a panel with a new chat, and a model that says back what it is told.
//
// Owns nothing but the model, which ends with the test.

import { until } from "./browser.ts";
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

/** Brings in a chat of messages of both sides in turn; the panel shows the list of chats. */
export async function importChat(panel: Sidebar, contents: string[]): Promise<void> {
  await until("the control for it", async () => (await panel.count("#import-chat")) === 1 || undefined);
  const messages = contents.map((content, at) => ({ role: at % 2 === 0 ? "user" : "assistant", content }));
  const session = { id: "x", name: "long", mode: "ask", private: false, readUntrusted: false, privateNames: [], messageCount: messages.length, createdAt: 1, updatedAt: 1 };
  await panel.page.run(`
    const data = new DataTransfer();
    data.items.add(new File([${JSON.stringify(JSON.stringify({ session, messages }))}], "long.json", { type: "application/json" }));
    const input = document.querySelector("#import-chat");
    input.files = data.files;
    input.dispatchEvent(new Event("change", { bubbles: true }));`);
}
