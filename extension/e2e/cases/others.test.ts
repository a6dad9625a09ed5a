// Others on the way: an extension that is not ours, a bridge of another version, two sites at once.

import assert from "node:assert/strict";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { BROWSERS, FIREFOX_IDS, chromiumId } from "../../build/manifest.mjs";
import { tick } from "../driver/asking.ts";
import { textOf, until } from "../driver/browser.ts";
import type { Harbor } from "../driver/harbor.ts";
import { PAGE, type Site } from "../driver/site.ts";
import { type World, inBrowsers } from "../driver/world.ts";
import type { Settled } from "./way.test.ts";

/**
 * An extension that pretends to be `web-agents-api` and a page of `harbor`, and tries the native host, once a tab was closed; it
 * tells by a page's address what came of it.
 */
async function hostile(name: (typeof BROWSERS)[number], harbor: Harbor, site: Site): Promise<string> {
  const dir = join(harbor.dir, "hostile");
  await mkdir(dir);
  const keys = JSON.parse(await readFile(join(__ROOT__, "keys.json"), "utf8"));
  const id = name === "chrome" ? chromiumId(keys.harbor) : FIREFOX_IDS.harbor;
  const api = name === "chrome" ? chromiumId(keys["web-agents-api"]) : FIREFOX_IDS["web-agents-api"];
  const background = name === "chrome" ? { service_worker: "background.js" } : { scripts: ["background.js"] };
  const manifest = {
    manifest_version: 3,
    name: "hostile",
    version: "1",
    permissions: ["nativeMessaging"],
    background,
    browser_specific_settings: { gecko: { id: "hostile@example" } },
  };
  await writeFile(join(dir, "manifest.json"), JSON.stringify(manifest));
  await writeFile(
    join(dir, "background.js"),
    `const outcome = (port, message) => new Promise((resolve) => {
       port.onMessage.addListener((heard) => resolve("answered:" + JSON.stringify(heard)));
       port.onDisconnect.addListener(() => { void chrome.runtime.lastError; resolve("refused"); });
       port.postMessage(message);
     });
     chrome.tabs.onRemoved.addListener(async () => {
       const asked = { id: 1, type: "list", payload: { origin: "https://bank.example", tab: 1 } };
       const peer = await outcome(chrome.runtime.connect(${JSON.stringify(id)}, { name: "web-agents-api" }), asked);
       const own = await outcome(chrome.runtime.connect(${JSON.stringify(id)}, { name: "own" }), asked);
       const native = await outcome(chrome.runtime.connectNative("harbor_bridge"), { type: "ping", request_id: "1" });
       const options = await outcome(chrome.runtime.connect(${JSON.stringify(api)}, { name: "own" }), { id: 1, type: "look" });
       const page = await outcome(chrome.runtime.connect(${JSON.stringify(api)}, { name: "page:" + crypto.randomUUID() }), asked);
       await chrome.runtime.sendMessage(${JSON.stringify(api)}, { push: "grants", origins: [${JSON.stringify(site.other)}] }).catch(() => {});
       chrome.tabs.create({ url: ${JSON.stringify(site.url)} + "outcome?" + encodeURIComponent([peer, own, native, options, page]) });
     });`,
  );
  return dir;
}

/** Puts a program in the native host's place that says what another version of the bridge would say. */
async function olderBridge(harbor: Harbor): Promise<void> {
  const program = join(harbor.dir, "older");
  await writeFile(
    program,
    `#!/usr/bin/env node
process.stdin.once("data", () => {
  const error = { code: "version_mismatch", message: "the client is older: update it", details: { protocol: 1e6 } };
  const text = JSON.stringify({ type: "error", request_id: "hello", error });
  const head = Buffer.alloc(4);
  head.writeUInt32LE(Buffer.byteLength(text));
  process.stdout.write(Buffer.concat([head, Buffer.from(text)]));
});
process.stdin.once("end", () => process.exit());
`,
  );
  await chmod(program, 0o755);
  const { browsers } = JSON.parse(await harbor.cli("host", "status", "--json"));
  const { manifest } = browsers.find((one: { starts: string | null }) => one.starts !== null);
  await writeFile(manifest, JSON.stringify({ ...JSON.parse(await readFile(manifest, "utf8")), path: program }));
}

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("another extension is refused, by harbor and by the native host", () =>
      inBrowser.run(
        async ({ browser, site }: World) => {
          const ours = await browser.open(site.url);
          assert.ok(((await ours.run("return shown(agent.permissions.list())")) as Settled).value);
          await ours.close();
          const page = await browser.find("outcome?");
          const outcome = (await page.run("return decodeURIComponent(location.search.slice(1))")) as string;
          assert.equal(outcome, "refused,refused,refused,refused,refused");
          // Nor has it put the API into frames.
          const framed = await page.run(`const frame = document.createElement("iframe");
            frame.src = ${JSON.stringify(`${site.other}/`)};
            const told = new Promise((resolve) => addEventListener("message", ({ data, source }) => {
              if (source === frame.contentWindow && typeof data?.agent === "string") resolve(data.agent); // the page hears its own port too
            }));
            document.body.append(frame);
            return told`);
          assert.equal(framed, "undefined");
        },
        { page: `${PAGE}<script>if (top !== window) parent.postMessage({ agent: typeof agent }, "*");</script>`, foreign: (harbor, site) => hostile(inBrowser.name, harbor, site) },
      ));

    test("a bridge of another version is said to be one", () =>
      inBrowser.run(async ({ browser, site, harbor }: World) => {
        await olderBridge(harbor);
        const page = await browser.open(site.url);
        const asked = (await page.run("return shown(agent.tools.list())")) as Settled;
        assert.deepEqual([asked.code, asked.message], ["ERR_VERSION_MISMATCH", "the client is older: update it"]);
        const sidebar = await browser.open(browser.harborUrl("sidebar.html"));
        await until("what to do", async () => /update it.*npm run build/s.test(await textOf(sidebar, "#bridge")) || undefined);
      }));

    test("two sites ask at once, and each gets its own answer", () =>
      inBrowser.run(async ({ browser, site, harbor }: World) => {
        await harbor.everything();
        const [one, two] = [await browser.open(site.url), await browser.open(`${site.other}/`)];
        await one.click("#ask");
        const first = await browser.find("consent.html?question=1");
        await two.click("#ask");
        const second = await browser.find("consent.html?question=2");
        assert.equal(await textOf(second, "#origin"), site.other);
        assert.equal(await textOf(first, "#origin"), site.origin);
        await tick(second);
        await second.click("#always");
        await first.press("Escape");
        assert.deepEqual(
          await Promise.all([one, two].map(async (page) => ((await page.run("return window.asked")) as Settled).value.granted)),
          [false, true],
        );
        const sum = "return shown(agent.tools.call({ tool: 'everything/get-sum', args: { a: 20, b: 22 } }))";
        const [refused, done] = (await Promise.all([one.run(sum), two.run(sum)])) as [Settled, Settled];
        assert.deepEqual([refused.code, done.value?.content[0].text.includes("42")], ["ERR_SCOPE_REQUIRED", true]);
      }));
  });
}
