// The chat in the panel, with a real bridge and a provider that the test writes: words, steps, approvals, stopping, following.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { FITS, serious } from "../driver/axe.ts";
import { until } from "../driver/browser.ts";
import { Sidebar } from "../driver/sidebar.ts";
import { placeOf, say, talking } from "../driver/talking.ts";
import { writeToolsServer } from "../driver/tools_server.ts";
import { type World, inBrowsers } from "../driver/world.ts";

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("a chat streams, is kept, and is the same in another window and after the panel was closed", () =>
      inBrowser.run(async (world: World) =>
        talking(world, async (panel) => {
          await say(panel, "hello there");
          await panel.says(".conversation .answer .markdown", /hello there/);
          await panel.says(".usage", /tokens in/);
          const other = await Sidebar.open(world.browser, await placeOf(panel));
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

    test("a no is one click, or says why: Enter tells the model, Escape tells nobody", () =>
      inBrowser.run(async (world: World) => {
        await world.harbor.cli("add", "weather", "--", "node", await writeToolsServer(world.harbor));
        await talking(world, async (panel, echo) => {
          echo.script.push(async () => ({ tool: "report", args: { seen: "rain" } }), async (told) => `It heard: ${told}`);
          await say(panel, "report it");
          await panel.says(".step[data-state=asked]", /weather · report/);
          await panel.click("[data-because]");
          const field = "return document.activeElement === document.querySelector('.because input')";
          await until("the field to have the focus", async () => ((await panel.page.run(field)) as boolean) || undefined);
          assert.deepEqual(await serious(panel.page), []);
          await panel.page.press("Escape");
          await panel.gone(".because");
          const button = "return document.activeElement.matches('[data-because]')";
          await until("the button to have it again", async () => ((await panel.page.run(button)) as boolean) || undefined);
          assert.equal(echo.asked.length, 1);
          await panel.click("[data-because]");
          await panel.type(".because input", "the rain has stopped");
          await panel.page.press("Enter");
          await panel.says(".step[data-state=failed]", /report/);
          await panel.says(".conversation .answer .markdown", /It heard:.*the rain has stopped/s);
        });
      }));

    test("where calls of several chats wait, a button and a key lead from one to the next, and answer none", () =>
      inBrowser.run(async (world: World) => {
        await world.harbor.cli("add", "weather", "--", "node", await writeToolsServer(world.harbor));
        await talking(world, async (panel, echo) => {
          const places: string[] = [];
          for (const seen of ["rain", "snow"]) {
            await panel.go("chat");
            await panel.text("#private");
            echo.script.push(async () => ({ tool: "report", args: { seen } }));
            await say(panel, `report ${seen}`);
            await panel.says(".step[data-state=asked] .questions", new RegExp(seen));
            places.push(await placeOf(panel));
          }
          const isAt = (place: string | undefined, seen: RegExp) =>
            until(`the question about ${seen}`, async () => {
              const focused = (await panel.page.run("return document.activeElement.matches('[data-question]') ? document.activeElement.textContent : ''")) as string;
              return ((await placeOf(panel)) === place && seen.test(focused)) || undefined;
            });
          const press = (key: string) => panel.page.run(`document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "${key}", altKey: true, bubbles: true, cancelable: true }))`);
          await panel.says("#foot", /A call in another chat waits for your yes/);
          assert.deepEqual(await serious(panel.page), []);
          await panel.click("#next-question");
          await isAt(places[0], /rain/);
          await press("ArrowDown");
          await isAt(places[1], /snow/);
          await press("ArrowUp");
          await isAt(places[0], /rain/);
          assert.match(await world.harbor.cli("approvals"), /(report.*){2}/s);
        });
      }));

    test("an edited message and a retry are branches; the chat that was there stays, and the menu leads back to it", () =>
      inBrowser.run(async (world: World) =>
        talking(world, async (panel) => {
          await say(panel, "first words");
          await panel.says(".conversation .answer .markdown", /first words/);
          const first = await placeOf(panel);
          await panel.click("[aria-label='Edit your message in a new branch']");
          await say(panel, "other words");
          await panel.says(".conversation .answer .markdown", /other words/);
          assert.notEqual(await placeOf(panel), first);
          const edited = await placeOf(panel);
          await panel.click("[aria-label^='Retry']");
          await until("another branch", async () => (await placeOf(panel)) !== edited || undefined);
          await panel.says(".conversation .answer .markdown", /other words/);
          await panel.click("#chat-menu summary");
          await panel.says("#branches", /the first.*from message 1/s);
          assert.equal(await panel.count("#branches li"), 3);
          await panel.click(`#branches a[href='#${first}']`);
          await panel.says(".conversation", /^(?!.*other words).*first words/s);
        }),
      ));

    test("chats are found by what was said in them, pinned, renamed, taken along, and gone when they are deleted", () =>
      inBrowser.run(async (world: World) =>
        talking(world, async (panel) => {
          for (const words of ["apples in autumn", "pears in spring"]) {
            await panel.go("chat");
            await panel.gone(".conversation");
            await say(panel, words);
            await panel.says(".conversation .answer .markdown", new RegExp(words));
          }
          const pears = (await placeOf(panel)).replace("chat/", "");
          await panel.click("#chat-menu summary");
          await panel.type("#chat-name", "About pears");
          await panel.click("#chat-menu form button");
          await panel.go("chats");
          await panel.says(".chats li:first-child", /About pears/);
          await panel.type("#search-chats", "Autumn apples");
          await panel.says(".chats", /^(?!.*pears).*apples in autumn/s);
          const apples = (await panel.page.run("return document.querySelector('.chats a').hash")) as string;
          await panel.click(`#pin-${apples.replace("#chat/", "")}`);
          await panel.type("#search-chats", "");
          await panel.says(".chats li:first-child", /apples.*Unpin/s);
          await panel.click(`#delete-${pears}`);
          await panel.click("#really");
          await panel.gone(`#delete-${pears}`);
          await panel.type("#search-chats", "pears");
          await panel.says("#view", /No chat has these words/);
        }),
      ));

    test("files go with a message as they are, and each can be opened to what the model got", () =>
      inBrowser.run(async (world: World) =>
        talking(world, async (panel, echo) => {
          await panel.page.run(`
            const data = new DataTransfer();
            data.items.add(new File(["the cargo is late"], "notes.txt", { type: "text/plain" }));
            data.items.add(new File([new Uint8Array([0, 1, 2])], "what.bin"));
            document.querySelector("#say-text").dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: data }));`);
          await panel.says(".chip", /notes.txt/);
          await panel.says("#foot [role=alert] .notice", /what.bin is neither text nor a picture/);
          await say(panel, "what is late?");
          await panel.says(".conversation .answer", /./);
          assert.match(JSON.stringify(echo.asked.at(-1)), /the cargo is late/);
          assert.match(await panel.text(".conversation .attachment"), /notes.txt.*the cargo is late/s);
        }),
      ));

    test("a prompt of a server is filled in above the field, and its text is in the field before anything is sent", () =>
      inBrowser.run(async (world: World) => {
        await world.harbor.everything();
        await talking(world, async (panel, echo) => {
          const typed = () => panel.page.run("return document.querySelector('#say-text').value") as Promise<string>;
          const isIn = (id: string) => until(`the focus in ${id}`, async () => (await panel.page.run("return document.activeElement.id")) === id || undefined);
          await until("the prompts", async () => (await panel.type("#say-text", "/everything.args"), (await panel.count(".slash .option")) > 0 || undefined));
          await panel.page.press("Enter");
          await isIn("prompt-0");
          await panel.says(".prompt", /city required.*Name of the city.*state/s);
          assert.deepEqual([await serious(panel.page), await panel.page.run(FITS)], [[], true]);
          await panel.page.press("Enter");
          await panel.says(".prompt", /The prompt needs this/);
          await panel.type("#prompt-0", "Bergen");
          await panel.page.press("Enter");
          await panel.gone(".prompt");
          await until("the prompt's text", async () => /weather in Bergen\?$/.test(await typed()) || undefined);
          await isIn("say-text");
          assert.equal(echo.asked.length, 0);
          await panel.type("#say-text", "/everything.args");
          await panel.page.press("Enter");
          await isIn("prompt-0");
          await panel.page.press("Escape");
          await panel.gone(".prompt");
          await isIn("say-text");
        });
      }));

    test("the chat and the list of chats are fit for everybody, also where it is narrow", () =>
      inBrowser.run(async (world: World) =>
        talking(world, async (panel) => {
          await say(panel, "| a | b |\n|---|---|\n| 1 | 2 |\n\n- [link](https://example.org)\n\n```js\nlet a = 1;\n```");
          await panel.says(".conversation .answer .markdown", /let a = 1/);
          const chat = await placeOf(panel);
          for (const place of [chat, "chats", "models", "more"]) {
            await panel.go(place);
            await panel.gone(".waiting");
            assert.deepEqual([place, await serious(panel.page), await panel.page.run(FITS)], [place, [], true]);
          }
        }),
      ));
  });
}
