// What goes wrong in the middle of an answer: each time one end, nothing hangs, and the model is left at once.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { describe, test } from "node:test";
import { type Page, until } from "../driver/browser.ts";
import type { Echo } from "../driver/echo.ts";
import { type Became, modelPage, withEcho } from "../driver/models.ts";
import { hostsOf } from "../driver/native_hosts.ts";
import { Site } from "../driver/site.ts";
import { type World, inBrowsers } from "../driver/world.ts";

/** From the cancel to the end of the provider's connection. */
const AT_ONCE_MS = 200;

/** Begins a stream that hangs, and waits for its first piece. What becomes of it is in `window.ended`, with how often that was. */
async function begin(page: Page): Promise<void> {
  await page.run(`
    window.s ??= await LM.create();
    window.ends = 0;
    return new Promise((begun) => {
      window.ended = settled(read(s.promptStreaming("<hang>"), () => begun(null)).finally(() => (window.ends += 1)));
    })`);
}

const ended = (page: Page) => page.run("return ended.then((became) => ({ ...became, ends }))") as Promise<Became & { ends: number }>;

const works = (page: Page) => until("an answer", async () => ((await page.run("return settled(s.prompt('and on'))")) as Became).value as string | undefined);

/** Breaks what it can, before and after; it keeps what the test needs itself. */
const HOSTILE = `<!doctype html><meta charset="utf-8"><title>Hostile</title><script>
  const { then } = Promise.prototype;
  const wait = setTimeout;
  window.LM = harbor.LanguageModel;
  window.stolen = [];
  const own = { then: Promise.prototype.then, stringify: JSON.stringify, next: Array.prototype[Symbol.iterator] };
  const steal = (...all) => { stolen.push(all); };
  const breakAll = () => {
    JSON.stringify = () => "{}"; JSON.parse = () => ({ forged: true });
    Array.isArray = () => false; Object.freeze = (x) => x; Reflect.apply = steal;
    for (const [Class, names] of [[Map, ["get", "set", "delete", "forEach"]], [Array, ["push", "map", "join", "slice"]], [String, ["charCodeAt", "codePointAt", "slice"]],
      [EventTarget, ["addEventListener", "removeEventListener", "dispatchEvent"]], [MessagePort, ["postMessage", "start"]], [AbortController, ["abort"]], [ReadableStreamDefaultController, ["enqueue", "close", "error"]]])
      for (const name of names) Class.prototype[name] = steal;
    for (const name of ["Map", "Error", "TypeError", "DOMException", "ReadableStream", "AbortController", "EventTarget", "MessageEvent", "ProgressEvent", "Blob", "setTimeout"]) window[name] = function () { stolen.push(name); };
    Object.defineProperty(MessageEvent_.prototype, "data", { get: () => ({ id: 1, result: "forged" }) });
  };
  const MessageEvent_ = MessageEvent;
  breakAll();
  window.run = async () => {
    const s = await LM.create();
    const said = await s.prompt("Hello");
    Promise.prototype.then = steal;
    const reader = s.promptStreaming("one two three").getReader();
    let text = "";
    for (;;) { const { done, value } = await reader.read(); if (done) break; text += value; }
    Promise.prototype.then = own.then;
    return own.stringify([said, text, stolen.length]);
  };
</script>`;

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("faults", (t) =>
      inBrowser.run((world: World) =>
        withEcho(world, async (echo: Echo, origin) => {
          const { browser, harbor } = world;
          const at = await origin();
          const page = await modelPage(world, at);

          await t.test("an abort has left the model at once, and the model hears of each way to go", async () => {
            const before = echo.left.length;
            const times: number[] = [];
            for (let time = 0; time < 5; time += 1) {
              const began = (await page.run(`
                window.s ??= await LM.create();
                const controller = new AbortController();
                let at = 0;
                await read(s.promptStreaming("<hang>", { signal: controller.signal }), () => { at = Date.now(); controller.abort(); }).catch(() => {});
                return at`)) as number;
              times.push((await echo.leaving(before + time + 1)) - began);
            }
            // Other browsers run beside this one: what it can do counts, not how long it had to wait for a processor.
            assert.ok(Math.min(...times) <= AT_ONCE_MS, String(times));
          });

          await t.test("a tab closes, goes elsewhere, or loses the frame that asks", async () => {
            for (const way of ["close", "goto", "reload"] as const) {
              const before = echo.left.length;
              const other = await modelPage(world, at);
              await begin(other);
              if (way === "close") await other.close();
              else await other.goto(way === "goto" ? `${at}/elsewhere` : `${at}/`);
              await echo.leaving(before + 1);
            }
            const before = echo.left.length;
            // As soon as the browser has the list of origins with a grant.
            const framed = await until("a frame with the API", async () => (await page.run(`
              const frame = document.createElement("iframe");
              frame.src = "/frame";
              const loaded = new Promise((resolve) => (frame.onload = resolve));
              document.body.append(frame);
              await loaded;
              const s = await frame.contentWindow.harbor?.LanguageModel.create();
              const { value } = (await s?.promptStreaming("<hang>").getReader().read()) ?? {};
              frame.remove();
              return value ?? null`)) ?? undefined);
            assert.equal(framed, "and");
            await echo.leaving(before + 1);
          });

          await t.test("the backgrounds end: the stream fails once, and the session goes on with its history", async () => {
            await page.run("window.s = await LM.create(); await s.prompt('first')");
            const before = echo.left.length;
            await begin(page);
            await browser.endBackgrounds(page);
            const { name, ends } = await ended(page);
            assert.deepEqual([name, ends], ["UnknownError", 1]);
            await echo.leaving(before + 1);
            await works(page);
            const roles = (await page.run("return s.prompt('<roles>')")) as string;
            assert.match(roles, /^user assistant user/);
          });

          await t.test("the bridge is killed: the stream fails once, and the next prompt is answered by the next one", async () => {
            await begin(page);
            const { bridge } = JSON.parse(await harbor.cli("status", "--json"));
            execFileSync("kill", ["-9", String(bridge.pid)]);
            const { name, ends } = await ended(page);
            assert.deepEqual([name, ends], ["UnknownError", 1]);
            await works(page);
          });

          await t.test("the person takes the permission back in the middle of an answer", async () => {
            const other = await modelPage(world, await origin());
            await begin(other);
            await harbor.cli("revoke", (await other.run("return origin")) as string, "model:prompt");
            const { name, ends } = await ended(other);
            assert.deepEqual([name, ends], ["NotAllowedError", 1]);
          });

          await t.test("twenty streams of two sites at the same time, each whole", async () => {
            const source = `const all = await Promise.all(Array.from({ length: 20 }, async (_, at) => read((await LM.create()).promptStreaming("<many " + (40 + at) + ">"))));
              return all.map((pieces) => pieces.join("").trim().split(" ").length)`;
            const pages = [await modelPage(world, await origin()), await modelPage(world, await origin())];
            const counts = await Promise.all(pages.map((one) => one.run(source)));
            const expected = Array.from({ length: 20 }, (_, at) => 40 + at);
            assert.deepEqual(counts, [expected, expected]);
          });

          await t.test("a page that never reads holds up nobody, and the model stops", async () => {
            const idle = await modelPage(world, await origin());
            const before = echo.left.length;
            await idle.run("window.unread = (await LM.create()).promptStreaming('<many 1000000>'); return null");
            assert.equal(await page.run("return s.prompt('meanwhile')"), "meanwhile");
            await until("the model to wait", async () => {
              const now = echo.longest;
              // Each takes its time, in which a model that is read would say more.
              for (let time = 0; time < 3; time += 1) await page.run("return s.prompt('meanwhile')");
              return now === echo.longest || undefined;
            });
            assert.ok(echo.longest < 1_000_000, String(echo.longest));
            await idle.close();
            await echo.leaving(before + 1);
          });

          await t.test("harbor is loaded again, and switched off: what streams fails once, and one native host is left, or none", async () => {
            for (const what of ["reload", "disable"] as const) {
              const before = echo.left.length;
              await begin(page);
              await browser.manage(what);
              const { name, ends } = await ended(page);
              assert.deepEqual([name, ends], ["UnknownError", 1]);
              await echo.leaving(before + 1);
              if (what === "disable") {
                await until("no native host", async () => (await hostsOf(harbor)).length === 0 || undefined);
                await browser.manage("enable");
              }
              await works(page);
              await until("one native host", async () => (await hostsOf(harbor)).length === 1 || undefined);
            }
          });

          await t.test("the extension is loaded again: what streams fails once", async () => {
            const other = await modelPage(world, at);
            await begin(other);
            const before = echo.left.length;
            await browser.manage("reload", "web-agents-api");
            const { name, ends } = await ended(other);
            assert.deepEqual([name, ends], ["UnknownError", 1]);
            await echo.leaving(before + 1);
          });

          await t.test("a page that has overwritten what it can still gets its answers, and sees nothing else", async () => {
            const site = await Site.start(HOSTILE);
            try {
              await harbor.cli("grant", site.origin, "model:prompt", "--always");
              const hostile = await browser.open(site.url);
              assert.equal(await hostile.run("return run()"), '["Hello","one two three",0]');
            } finally {
              await site.end();
            }
          });
        }),
      ));
  });
}
