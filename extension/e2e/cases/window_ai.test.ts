// `window.ai`, method by method, and whose LanguageModel a site has: one browser and one Harbor for all of it.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { until } from "../driver/browser.ts";
import { became, modelPage, withEcho } from "../driver/models.ts";
import { prefer } from "../driver/preferring.ts";
import { type World, inBrowsers } from "../driver/world.ts";

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("window.ai", (t) =>
      inBrowser.run((world: World) =>
        withEcho(world, async (echo, origin) => {
          const { browser, harbor } = world;

          await t.test("whether there is a model, in the words of 2024", async () => {
            const page = await modelPage(world, await origin(), false);
            const words = () => page.run("return Promise.all([ai.canCreateTextSession(), ai.languageModel.capabilities().then(({ available }) => available), ai.runtime.getBest()])");
            assert.deepEqual(await words(), ["after-download", "after-download", "harbor"]);
            await harbor.cli("grant", (await page.run("return origin")) as string, "model:prompt", "--always");
            assert.deepEqual(await words(), ["readily", "readily", "harbor"]);
            const found = await page.run(`const { harbor, chrome, ...more } = await ai.runtime.getCapabilities();
              return [harbor, typeof chrome.available, more, ai.runtime.harbor === ai, ai.runtime.firefox, ai.runtime.chrome === null]`);
            assert.deepEqual(found, [{ available: "readily" }, "string", { firefox: null }, true, null, inBrowser.name === "firefox"]);
          });

          await t.test("sessions prompt, stream, are copied and destroyed", async () => {
            const page = await modelPage(world, await origin());
            const found = await page.run(`
              const s = await ai.createTextSession({ systemPrompt: "be brief", temperature: 0.5, top_p: 0.9 });
              const said = [await s.prompt("Hello"), await s.prompt("<roles>")];
              const stream = s.promptStreaming("one two three");
              const kind = [stream instanceof ReadableStream, typeof stream[Symbol.asyncIterator]];
              const pieces = await read(stream);
              const copy = await s.clone();
              await copy.prompt("more");
              const apart = [(await s.prompt("<roles>")).split(" ").length, (await copy.prompt("<roles>")).split(" ").length];
              s.destroy();
              const after = [await tried(() => s.prompt("x")), await tried(() => s.promptStreaming("x")), await tried(() => s.clone())].map(({ code }) => code);
              const other = await ai.languageModel.create({ initialPrompts: [{ role: "system", content: "s" }, { role: "user", content: "u" }], temperature: 1 });
              return { said, kind, types: [...new Set(pieces.map(({ type }) => type))], text: pieces.map(({ token }) => token ?? "").join(""), apart, after,
                ids: [typeof s.sessionId, s.sessionId !== copy.sessionId], other: await other.prompt("<roles>") }`);
            assert.deepEqual(found, {
              said: ["Hello", "system user assistant user"],
              kind: [true, "function"],
              types: ["token", "done"],
              text: "one two three",
              apart: [8, 10],
              after: ["ERR_CANCELLED", "ERR_CANCELLED", "ERR_CANCELLED"],
              ids: ["string", true],
              other: "system user",
            });
            assert.deepEqual([echo.asked[0]?.["temperature"], echo.asked[0]?.["top_p"]], [0.5, 0.9]);
          });

          await t.test("what fails has a code, as in window.agent, and a stream has one end", async () => {
            const page = await modelPage(world, await origin());
            const codes = (await page.run(`
              const s = await ai.createTextSession();
              const all = [() => ai.createTextSession(7), () => ai.createTextSession({ systemPrompt: 7 }), () => ai.createTextSession({ temperature: "hot" }), () => ai.createTextSession({ model: {} }),
                () => ai.createTextSession({ signal: {} }), () => ai.languageModel.create({ initialPrompts: [{ role: "robot", content: "x" }] }), () => s.prompt(7), () => s.prompt({}), () => s.promptStreaming(),
                () => s.prompt("x", { signal: 1 }), () => s.prompt("<refuse>"), () => s.prompt("<cut>"), () => s.prompt("x".repeat(2e6)),
                async () => (await ai.createTextSession({ temperature: 7 })).prompt("x"), async () => (await ai.createTextSession({ provider: "nobody" })).prompt("x")];
              const found = [];
              for (const one of all) found.push((await tried(one)).code);
              return found;`)) as string[];
            const invalid = "ERR_INVALID_REQUEST";
            assert.deepEqual(codes, [invalid, invalid, invalid, invalid, invalid, invalid, invalid, invalid, invalid, invalid, "ERR_MODEL_FAILED", "ERR_MODEL_FAILED", "ERR_MODEL_FAILED", invalid, "ERR_SCOPE_REQUIRED"]);
            const ends = await page.run(`const s = await ai.createTextSession();
              const cut = (await read(s.promptStreaming("<cut>"))).map(({ type, error }) => [type, error?.code]);
              const reason = { mine: true };
              const controller = new AbortController();
              const aborted = await read(s.promptStreaming("<hang>", { signal: controller.signal }), () => controller.abort(reason)).catch((error) => error === reason);
              const before = await s.prompt("x", { signal: aborting(reason) }).catch((error) => error === reason);
              const never = await ai.createTextSession({ signal: aborting(reason) }).catch((error) => error === reason);
              const life = new AbortController();
              const short = await ai.languageModel.create({ systemPrompt: "be brief", signal: life.signal });
              const roles = await short.prompt("<roles>");
              life.abort(reason);
              const after = await short.prompt("x").catch((error) => error === reason);
              return [cut, aborted, before, never, roles, after, await s.prompt("and on")]`);
            assert.deepEqual(ends, [[["token", null], ["error", "ERR_MODEL_FAILED"]], true, true, true, "system user", true, "and on"]);
          });

          await t.test("providers are for who may list models, and are added by the person alone", async () => {
            const page = await modelPage(world, await origin());
            const list = "return [await tried(() => ai.providers.list()), await tried(() => ai.providers.getActive())]";
            const before = (await page.run(list)) as { code?: string }[];
            assert.deepEqual(before.map(({ code }) => code), ["ERR_SCOPE_REQUIRED", "ERR_SCOPE_REQUIRED"]);
            // At once, and not at the first prompt.
            for (const options of ["{ model: 'echo:echo' }", "{ provider: 'nobody' }"]) assert.equal((await became(page, `return ai.createTextSession(${options})`)).code, "ERR_SCOPE_REQUIRED");
            assert.equal((await became(page, "return ai.createTextSession({ systemPrompt: 'word '.repeat(9000) })")).code, "ERR_MODEL_FAILED");
            await harbor.cli("grant", (await page.run("return origin")) as string, "model:list", "--always");
            const [listed, active] = (await page.run(list)) as { value?: any }[];
            assert.deepEqual(listed?.value, [{ id: "echo", type: "openai-compatible", name: "echo", available: true, isDefault: true, isTypeDefault: true, models: ["echo"] }]);
            assert.deepEqual(active?.value, { provider: "echo", model: "echo" });
            const chosen = (await page.run(`const ask = (options) => tried(async () => (await ai.createTextSession(options)).prompt("Hello"));
              return Promise.all([ask({ model: "echo:echo" }), ask({ provider: "nobody" })])`)) as { value?: string; code?: string; message?: string }[];
            assert.deepEqual([chosen[0]?.value, chosen[1]?.code, /echo/.test(chosen[1]?.message ?? "")], ["Hello", "ERR_MODEL_FAILED", false]);
            assert.equal((await became(page, "return ai.providers.add({ type: 'openai', apiKey: 'sk-x' })")).code, "ERR_USER_GESTURE_REQUIRED");
            await page.run("document.querySelector('#ask').onclick = () => { window.added = settled(ai.providers.add({ type: 'openai', apiKey: 'sk-x' })); }");
            await page.click("#ask");
            const options = await browser.find("options.html");
            assert.equal(await options.run("return [...document.querySelectorAll('input')].some(({ value }) => value.includes('sk-x'))"), false);
            await options.close();
            // A click that has opened them opens no question besides.
            const greedy = await modelPage(world, await origin(), false);
            await greedy.run("document.querySelector('#ask').onclick = () => { window.both = Promise.all([settled(ai.providers.add()), settled(LM.create())]); }");
            await greedy.click("#ask");
            const [, model] = (await greedy.run("return both")) as { name?: string }[];
            assert.equal(model?.name, "NotAllowedError");
            assert.equal(await browser.count("consent.html"), 0);
            await (await browser.find("options.html")).close();
          });

          await t.test("a page's workers see nothing of it", async () => {
            const page = await modelPage(world, await origin());
            const seen = await page.run(`const source = "postMessage([typeof agent, typeof ai, typeof harbor])";
              const worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
              const said = await new Promise((resolve) => (worker.onmessage = ({ data }) => resolve(data)));
              worker.terminate();
              return said`);
            assert.deepEqual(seen, ["undefined", "undefined", "undefined"]);
          });

          await t.test("a page's own names win in its page, and ours are there where it has none", async () => {
            const page = await modelPage(world, await origin());
            for (const [name, other] of [["agent", "harbor.agent.run"], ["harbor", "agent.run"], ["ai", "harbor.ai.createTextSession"], ["LanguageModel", "harbor.LanguageModel.create"]]) {
              for (const source of [`const ${name} = 7`, `let ${name} = 7`, `var ${name} = 7`, `${name} = 7`, `function ${name}() {}`, `class ${name} {}`]) {
                await page.goto((await page.run("return location.href")) as string);
                const found = await page.run(`const failed = []; addEventListener("error", ({ message }) => failed.push(message));
                  const script = document.createElement("script");
                  script.textContent = ${JSON.stringify(`${source}; window.after = ${name}; window.other = typeof ${other}`)};
                  document.head.append(script);
                  return [failed, window.after === 7 ? "7" : Function.prototype.toString.call(window.after).split(" ")[0], window.other]`);
                assert.deepEqual(found, [[], /7$/.test(source) ? "7" : source.split(" ")[0], "function"], source);
              }
            }
          });

          await t.test("for a site the person says whose LanguageModel it has", async () => {
            const isNative = inBrowser.name === "chrome";
            const at = await origin();
            const page = await modelPage(world, at);
            const options = await browser.open(browser.apiUrl("options.html"));
            const becomes = async (preference: string, shown: string, source: string) => {
              await prefer(options, `${at}/`, preference, shown);
              // Registered when the list shows it; a page that is loaded from then on has it.
              await page.goto(`${at}/`);
              return page.run(`const LM = window.LanguageModel; ${source}`);
            };
            const whose = "return LM === undefined ? 'none' : LM === harbor.LanguageModel ? 'ours' : LM.isHarbor ? 'either' : 'native'";
            assert.equal(await becomes("always", "always yours", whose), "ours");
            assert.equal(await becomes("never", "never yours", whose), isNative ? "native" : "none");
            assert.equal(await becomes("unavailable", "unavailable", whose), isNative ? "either" : "ours");
            assert.equal(await page.run("return window.LanguageModel.name"), "LanguageModel");
            const used = await page.run("const s = await window.LanguageModel.create(); return [await window.LanguageModel.availability(), s instanceof window.LanguageModel, await s.prompt('Hello')]");
            assert.deepEqual(used, ["available", true, "Hello"]);
            assert.equal(await page.run("return Object.getOwnPropertyNames(window).some((name) => name.startsWith('__harbor'))"), false);
            await options.click("#preferences button");
            await until("nothing", async () => (await options.run("return document.querySelector('#preferences').childElementCount")) === 0 || undefined);
            await page.goto(`${at}/`);
            assert.equal(await page.run(`const LM = window.LanguageModel; ${whose}`), isNative ? "native" : "ours");
          });
        }),
      ));
  });
}
