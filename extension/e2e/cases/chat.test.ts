// The chat in the panel, with a real bridge and a provider that the test writes: words, steps, approvals, stopping, following.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { until } from "../driver/browser.ts";
import { Echo } from "../driver/echo.ts";
import { Sidebar } from "../driver/sidebar.ts";
import { writeToolsServer } from "../driver/tools_server.ts";
import { type World, inBrowsers } from "../driver/world.ts";

/** Does `work` with a panel that shows a new chat, and a model that says back what it is told. */
async function talking(world: World, work: (panel: Sidebar, echo: Echo) => Promise<void>): Promise<void> {
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
async function say(panel: Sidebar, text: string): Promise<void> {
  await panel.type("#say-text", text);
  await panel.click("#send");
}

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("a chat streams, is kept, and is the same in another window and after the panel was closed", () =>
      inBrowser.run(async (world: World) =>
        talking(world, async (panel) => {
          await say(panel, "hello there");
          await panel.says(".conversation .answer .markdown", /hello there/);
          await panel.says(".usage", /tokens in/);
          const id = (await panel.page.run("return location.hash")) as string;
          const other = await Sidebar.open(world.browser, id.slice(1));
          await other.says(".conversation .person .text", /hello there/);
          await say(other, "<hang>");
          await panel.says(".conversation li:nth-child(3) .text", /<hang>/);
          await panel.says(".conversation li:nth-child(4) .markdown", /./);
          await panel.click("#stop");
          await other.says(".conversation li:last-child", /You stopped it/);
          await panel.page.close();
          const again = await Sidebar.open(world.browser, "");
          await again.says(".conversation li:nth-child(3) .text", /<hang>/);
        }),
      ));

    test("a call that writes waits for a yes in the chat, and its step opens to what was sent and what came", () =>
      inBrowser.run(async (world: World) => {
        await world.harbor.cli("add", "weather", "--", "node", await writeToolsServer(world.harbor));
        await talking(world, async (panel, echo) => {
          echo.script.push(async () => ({ tool: "report", args: { seen: "rain" } }), async (told) => `It says: ${told}`);
          await say(panel, "report it");
          await panel.says(".step[data-state=asked]", /weather · report/);
          await panel.says("#tabs [data-icon=chat] .count", /1/);
          await until("the yes", async () => (await panel.count("[data-answer=once]:not([aria-disabled])")) > 0 || undefined);
          await panel.click("[data-answer=once]");
          await panel.says(".step[data-state=failed]", /report/);
          await panel.says(".conversation .answer .markdown", /It says/);
          assert.match(await panel.text(".step .opened"), /rain/);
        });
      }));
  });
}
