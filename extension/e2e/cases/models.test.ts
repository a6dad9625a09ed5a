// Models by the panel alone: the first steps from nothing to an answer, a key that is refused, what runs on this machine, removal, usage.

import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { FITS, serious } from "../driver/axe.ts";
import { until } from "../driver/browser.ts";
import { Echo } from "../driver/echo.ts";
import { HELD, holding } from "../driver/held.ts";
import { LLAMA_PORT, USE_LLAMA, llamaPortIsFree } from "../driver/llama_port.ts";
import { Sidebar } from "../driver/sidebar.ts";
import { writeToolsServer } from "../driver/tools_server.ts";
import { type World, inBrowsers } from "../driver/world.ts";

const KEY = "sk-0123456789-only-you-know";
const WRONG = "sk-9876543210-somebody-elses";

async function choose(panel: Sidebar, selector: string, value: string): Promise<void> {
  await until(selector, async () => (await panel.count(`${selector} option[value="${value}"]`)) > 0 || undefined);
  await panel.page.run(`
    const select = document.querySelector(${JSON.stringify(selector)});
    select.value = ${JSON.stringify(value)};
    select.dispatchEvent(new Event("change", { bubbles: true }))`);
}

/** Adds an endpoint of one's own by the form that is shown. */
async function addEndpoint(panel: Sidebar, url: string, key = ""): Promise<void> {
  // It is folded where a model of somebody else is found on this machine.
  await panel.page.run("for (const one of document.querySelectorAll('[data-step] details')) one.open = true");
  await choose(panel, "#provider-type", "openai-compatible");
  await panel.says("#where", /address of this machine/);
  await panel.type("#provider-url", url);
  await panel.type("#provider-key", key);
  await panel.click("#add-provider");
}

async function isFit(panel: Sidebar): Promise<void> {
  assert.deepEqual(await serious(panel.page), []);
  assert.equal(await panel.page.run(FITS), true);
}

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("from nothing to an answer without a terminal; a refused key is said in the provider's words, and no key stays anywhere", () =>
      inBrowser.run(async ({ browser, harbor }: World) => {
        const echo = await Echo.listen({ key: KEY });
        try {
          const panel = await Sidebar.open(browser, "chat");
          const held = async () => (await panel.page.run(HELD)) as string;
          await panel.says("[data-step='Harbor'][data-standing=done]", /Runs on this machine/);
          await panel.says("[data-step='A model'][data-standing=open]", /program that writes the answers.*stays here/s);
          await panel.says(".mismatch", /No model can answer yet/);
          await choose(panel, "#provider-type", "openai");
          await panel.says("#where", /Leaves this machine: OpenAI gets/);
          await isFit(panel);

          // An address that is refused costs no second typing of the key.
          await addEndpoint(panel, "http://192.0.2.1/v1", WRONG);
          await panel.says("[data-step='A model'] [data-code]", /unencrypted/);
          await panel.type("#provider-url", echo.url);
          assert.ok((await held()).includes(WRONG), "so this test would see it");
          await panel.click("#add-provider");
          await panel.says("[data-provider] .stands", /Does not take the key.*says: .*harbour master/s);
          assert.ok(!(await held()).includes(WRONG));
          await until("the focus in the field for another key", async () => (await panel.page.run("return document.activeElement.closest('[data-provider]') !== null && document.activeElement.name === 'key'")) || undefined);
          await isFit(panel);

          await panel.type("[data-provider] input[name=key]", KEY);
          await panel.click("[data-set-key]");
          await panel.says("[data-step='A model'][data-standing=done]", /openai-compatible:echo.*On this machine/);
          assert.ok(!(await held()).includes(KEY));
          await panel.says("#model-menu summary", /echo/);

          assert.deepEqual(await panel.page.run("return [...document.querySelectorAll('[data-card]')].map((one) => one.getAttribute('href'))"), ["#install/time", "#install/fetch", "#install/memory"]);
          await isFit(panel);
          await panel.click("[data-later=server]");
          await panel.says("#view h2", /What can I do here/);
          assert.equal(await panel.page.run("return document.activeElement.id"), "say-text");
          assert.equal(await panel.page.run("return document.querySelector('.mismatch').textContent"), "");
          await panel.type("#say-text", "hello there");
          await panel.click("#send");
          await panel.says(".conversation .answer .markdown", /hello there/);

          // Who comes back is asked nothing again.
          const again = await Sidebar.open(browser, "chat");
          await again.says("#view h2", /What can I do here/);
          for (const key of [KEY, WRONG]) assert.ok((await holding(harbor.dir, key)).every((file) => file.startsWith(join(harbor.dir, "home/.harbor/secrets/"))), key);
        } finally {
          await echo.end();
        }
      }));

    test("skipped steps stay skipped, can be taken up again, and leave a way to a model", () =>
      inBrowser.run(async ({ browser }: World) => {
        const panel = await Sidebar.open(browser, "chat");
        await panel.click("[data-later=model]");
        await panel.says("[data-step='A model'][data-standing=skipped]", /Skipped/);
        const again = await Sidebar.open(browser, "chat");
        await again.says("[data-step='A model'][data-standing=skipped]", /Do it now/);
        await again.click("[data-now=model]");
        await again.says("[data-step='A model'][data-standing=open]", /Found on this machine/);
        await again.click("[data-later=model]");
        await again.click("[data-later=server]");
        await again.says("#view", /No model yet.*program that writes the answers.*Choose a model/s);
        await isFit(again);
        await again.click("#view a.primary");
        await again.says("#view", /Models.*Add a provider/s);
      }));

    test("what runs on this machine is found, and answers after one click; what its model cannot is said before anything is sent", (context) =>
      inBrowser.run(async ({ browser, harbor }: World) => {
        const props = { chat_template_caps: { supports_tools: false }, modalities: { vision: false } };
        if (!(await llamaPortIsFree())) return context.skip(`port ${LLAMA_PORT} is taken`);
        const echo = await Echo.listen({ port: LLAMA_PORT, props });
        try {
          const panel = await Sidebar.open(browser, "chat");
          await panel.says(".found", /llama-server.*9931/s);
          await isFit(panel);
          await panel.click(USE_LLAMA);
          await panel.says("[data-step='A model'][data-standing=done]", /llama-server:echo.*On this machine/);
          await panel.go("models");
          await panel.says("#answers", /llama-server:echo answers.*On this machine/);
          await panel.says("[data-provider] .stands", /Ready/);
          await panel.says("[data-provider] .options", /no tools · no pictures/);

          await panel.go("chat");
          await panel.says("#view h2", /Three steps/);
          assert.equal(await panel.page.run("return document.querySelector('.mismatch').textContent"), "");
          await harbor.cli("add", "weather", "--", "node", await writeToolsServer(harbor));
          await panel.says(".mismatch", /^echo was not made to use tools.*Models$/);
          await isFit(panel);
          // The last step is done, by whatever means.
          await panel.says("#view h2", /What can I do here/);
          await panel.click("#model-menu summary");
          await panel.page.press("Escape");
          assert.deepEqual(await panel.page.run("return [document.querySelector('#model-menu').open, document.activeElement.tagName]"), [false, "SUMMARY"]);
        } finally {
          await echo.end();
        }
      }));

    test("the view of models checks, says what each can, what was used, and removes after a question", () =>
      inBrowser.run(async ({ browser, harbor }: World) => {
        const echo = await Echo.start(harbor);
        try {
          await harbor.cli("ask", "one two three");
          const panel = await Sidebar.open(browser, "models");
          await panel.says("[data-provider=echo]", /On this machine · http:/);
          await panel.click("[data-check=echo]");
          await panel.says("[data-provider=echo] .stands", /Answers \(\d+ ms\)/);
          await panel.says("[data-provider=echo] .options", /echo.*default.*4k tokens · free/);
          await panel.says("table.usage", /Tokens by day.*\d{4}-\d\d-\d\d/s);
          await panel.says("table.usage + table.usage", /You1.*no limit/s);
          await panel.page.run("for (const one of document.querySelectorAll('details')) one.open = true");
          await isFit(panel);
          // What is at the end of it scrolls, and the head stays.
          await panel.page.run("document.querySelector('[data-limit]').scrollIntoView({ block: 'start' })");
          assert.equal(await panel.page.run("return scrollY + document.body.scrollTop"), 0);
          await panel.click("[id='budget owner']");
          await panel.type("#tokens", "1000");
          await panel.click("#save-budget");
          await panel.says("[data-limit=owner]", /1,000 tokens a day/);

          await echo.end();
          await panel.click("[data-check=echo]");
          await panel.says("[data-provider=echo] .stands", /Cannot be reached.*echo says: /s);
          await panel.click("[data-remove=echo]");
          await panel.says("[data-provider=echo] .notice", /Remove echo\?/);
          await panel.click("[data-removes=echo]");
          await panel.gone("[data-provider=echo]");
          await panel.says("#view", /A model is the program that writes the answers/);
        } finally {
          await echo.end();
        }
      }));
  });
}
