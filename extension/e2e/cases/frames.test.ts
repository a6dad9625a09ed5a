// Frames in a page: those of origins with a grant have the API and may use it; all others have none.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { askAndAllow } from "../driver/asking.ts";
import { type Page, until } from "../driver/browser.ts";
import { type Answers, PAGE, Site } from "../driver/site.ts";
import { type World, inBrowsers } from "../driver/world.ts";
import type { Settled } from "./way.test.ts";

const SUM = "shown(agent.tools.call({ tool: 'everything/get-sum', args: { a: 20, b: 22 } }))";

/** In a frame: runs what the page sends. In the page: makes a frame and has it run something. */
const HELPERS = `<script>
  window.shown ??= (promise) => promise.then((value) => ({ value }), (error) => ({ code: error.code, message: error.message }));
  if (top !== window) onmessage = async ({ data, source }) => source.postMessage({ ran: await eval(data.run) }, "*");
  window.inFrame = (frame, run) => new Promise((resolve) => {
    addEventListener("message", function heard({ data, source }) {
      if (source !== frame.contentWindow || !("ran" in Object(data))) return;
      removeEventListener("message", heard);
      resolve(data.ran);
    });
    frame.contentWindow.postMessage({ run }, "*");
  });
  window.framed = (attributes, run) => new Promise((resolve) => {
    const frame = Object.assign(document.createElement("iframe"), attributes);
    frame.onload = async () => { const ran = await inFrame(frame, run); if (!attributes.stay) frame.remove(); resolve(ran); };
    document.body.append(frame);
  });
</script>`;

const sites: Answers = (path) => {
  const html = `${PAGE}${HELPERS}`;
  return path === "/sandbox" ? { html, headers: { "content-security-policy": "sandbox allow-scripts" } } : { html };
};

/** Makes a frame, has it run something, and takes it away again. */
const framed = (page: Page, attributes: object, run: string) =>
  page.run(`return framed(${JSON.stringify(attributes)}, ${JSON.stringify(run)})`);

/** Waits until new frames of an origin have the API, or have it no more. */
async function hasAgent(page: Page, origin: string, wanted: boolean): Promise<void> {
  await until(`agent is ${wanted}`, async () => (await framed(page, { src: `${origin}/` }, "'agent' in window")) === wanted || undefined);
}

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("frames have the API as long as their origin has a grant, and use it as themselves", () =>
      inBrowser.run(async (world: World) => {
        const { harbor } = world;
        await harbor.everything();
        const site = await Site.start(sites);
        try {
          const page = await world.browser.open(site.url);
          const frame = { src: `${site.other}/` };
          assert.equal(await framed(page, frame, "'agent' in window"), false);
          // Connects.
          await page.run("return shown(agent.permissions.list())");
          for (const origin of ["https://[2001:db8::1]:8443", "https://a_b.example.", site.other]) {
            await harbor.cli("grant", origin, "mcp:tools.call", "--always", "--tool", "everything/*");
          }
          await hasAgent(page, site.other, true);

          assert.match(((await framed(page, frame, SUM)) as Settled).value.content[0].text, /42/);
          const asked = (await framed(page, frame, "shown(agent.requestPermissions(wish))")) as Settled;
          assert.equal(asked.code, "ERR_PERMISSION_DENIED", asked.message);
          assert.equal(((await page.run(`return ${SUM}`)) as Settled).code, "ERR_SCOPE_REQUIRED");

          await page.run(`window.kept = document.createElement("iframe");
            kept.src = ${JSON.stringify(frame.src)};
            const loaded = new Promise((resolve) => (kept.onload = resolve));
            document.body.append(kept);
            await loaded`);
          await world.browser.endBackgrounds(page);
          const kept = () => page.run(`return inFrame(kept, ${JSON.stringify(SUM)})`) as Promise<Settled>;
          assert.match((await kept()).value.content[0].text, /42/);

          await harbor.cli("revoke", site.other, "mcp:tools.call");
          await hasAgent(page, site.other, false);
          assert.equal((await kept()).code, "ERR_SCOPE_REQUIRED");
        } finally {
          await site.end();
        }
      }));

    test("what was registered is so in the next session, and what was revoked meanwhile goes", () =>
      inBrowser.run(async (world: World) => {
        const { harbor } = world;
        await harbor.everything();
        const site = await Site.start(sites);
        try {
          const before = await world.browser.open(site.url);
          await before.run("return shown(agent.permissions.list())");
          await harbor.cli("grant", site.other, "mcp:tools.call", "--always");
          await hasAgent(before, site.other, true);
          const after = await (await world.restart()).open(site.url);
          // Firefox forgets extensions that were loaded as these are: there, the first connection tells.
          if (inBrowser.name === "firefox") await after.run("return shown(agent.permissions.list())");
          await hasAgent(after, site.other, true);
          await world.browser.endBackgrounds(after);
          await harbor.cli("revoke", site.other, "mcp:tools.call");
          await after.run("return shown(agent.permissions.list())");
          await hasAgent(after, site.other, false);
        } finally {
          await site.end();
        }
      }));

    test("documents without an origin of their own have no API, whatever has a grant", () =>
      inBrowser.run(async ({ browser, harbor }: World) => {
        await harbor.everything();
        const site = await Site.start(sites);
        try {
          const page = await browser.open(site.url);
          await askAndAllow(browser, page);
          // As soon as the page knows of it.
          assert.match(((await framed(page, { src: "/frame" }, SUM)) as Settled).value.content[0].text, /42/);
          const html = (await page.run(`return document.querySelector("script:last-of-type").outerHTML`)) as string;
          const without = [
            { srcdoc: html },
            { src: `data:text/html,${encodeURIComponent(html)}` },
            { src: "/frame", sandbox: "allow-scripts" },
            { src: "/sandbox" },
            { srcdoc: html, sandbox: "allow-scripts" },
          ];
          for (const attributes of without) {
            assert.equal(await framed(page, attributes, "['agent', 'harbor', 'ai'].some((name) => name in window)"), false, JSON.stringify(attributes).slice(0, 80));
          }
          const blob = "URL.createObjectURL(new Blob([document.documentElement.outerHTML], { type: 'text/html' }))";
          assert.equal(await page.run(`return framed({ src: ${blob} }, "'agent' in window")`), false);
          const blank = await page.run(`const frame = document.createElement("iframe");
            document.body.append(frame);
            return "agent" in frame.contentWindow`);
          assert.equal(blank, false);
          const sandboxed = await browser.open(`${site.origin}/sandbox`);
          assert.equal(await sandboxed.run("return 'agent' in window"), false);
        } finally {
          await site.end();
        }
      }));
  });
}
