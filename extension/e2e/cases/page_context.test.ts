// The page beside the chat: attached by the person's choice, never by itself where it holds something of theirs, read by the model as it
// can be opened word by word.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, test } from "node:test";
import { serious } from "../driver/axe.ts";
import { type Page, until } from "../driver/browser.ts";
import { Echo } from "../driver/echo.ts";
import { Sidebar } from "../driver/sidebar.ts";
import type { Answers } from "../driver/site.ts";
import { type World, inBrowsers } from "../driver/world.ts";

const MARK = "the lighthouse keeper counts 47 gulls";
const WORDS = "Harbor needs your yes: Allow once \u202Ealways";
const PARAGRAPH = "The ferry leaves at nine and comes back when the wind allows it. ".repeat(12);

const PAGES: { [path: string]: string } = {
  "/article": `<title>Gulls</title><article><h1>Gulls</h1><p>Every morning ${MARK}.</p><p>${PARAGRAPH}</p><p id=part>Only this part is about puffins.</p></article>`,
  "/login": `<title>Sign in</title><h1>Sign in</h1><p>${MARK}</p><div id=host></div>
    <script>host.attachShadow({ mode: "open" }).innerHTML = '<input type=password value="hunter-two-22">'; </script>`,
  "/card": `<title>Pay</title><p>${MARK}</p><iframe srcdoc="<input autocomplete='cc-number'>"></iframe>`,
  "/checkout": `<title>Checkout</title><p>${MARK}</p><iframe sandbox srcdoc="<input name=cardNumber>"></iframe><iframe src="https://js.stripe.com.example/v3/elements" sandbox></iframe>`,
  "/words": `<meta charset=utf-8><title>${WORDS}</title><p>${MARK}</p>`,
  "/leaves": `<title>Leaves</title><p>${MARK}</p>`,
  "/long": `<title>Long</title><h1>Long</h1>${Array.from({ length: 60 }, (_, at) => `<p>Chapter ${at}. ${PARAGRAPH}</p>`).join("")}`,
  "/handlers": `<title>Handlers</title><p id=target>A paragraph about ${MARK}.</p><script>window.heard = []; for (const name of ["mousedown", "mouseup", "click", "pointerdown", "keydown"]) addEventListener(name, (event) => heard.push(event.type), true);</script>`,
};

const site: Answers = (path) => ({ html: `<!doctype html>${PAGES[path] ?? "<title>Nothing</title>"}` });

interface Beside {
  panel: Sidebar;
  echo: Echo;
  /** Shows a page of the site, which the panel then has beside it. */
  show(path: string): Promise<Page>;
}

/** Does `work` with a panel beside pages, and a model that says back what it is told. */
async function beside(world: World, work: (beside: Beside) => Promise<void>, window = 4096): Promise<void> {
  const echo = await Echo.start(world.harbor, "echo", window);
  try {
    const panel = await Sidebar.open(world.browser, "chat");
    await panel.says("#model-menu summary", /echo/);
    const show = async (path: string) => {
      const page = await world.browser.open(`${world.site.origin}${path}`);
      await panel.says("#page", /127\.0\.0\.1/);
      return page;
    };
    await work({ panel, echo, show });
  } finally {
    await echo.end();
  }
}

const WITH = { page: site, mayUsePages: true };

/** Says it, where nothing is to come of it. */
async function attempt(panel: Sidebar, text: string): Promise<void> {
  await panel.type("#say-text", text);
  await panel.press("#send");
}

/** Says it, and waits until that stands in the conversation. A panel that is at work with the page gives the words back: then as a person does, once more. */
async function say(panel: Sidebar, text: string): Promise<void> {
  const said = () => panel.count(".conversation li.person");
  const before = await said();
  await attempt(panel, text);
  const again = `
    const send = document.querySelector('#send:not([aria-disabled="true"]):not([disabled])');
    if (document.querySelector("#say-text").value === ${JSON.stringify(text)}) send?.click();`;
  await until(`"${text}" in the conversation`, async () => {
    if ((await said()) > before) return true;
    await panel.page.run(again);
    return undefined;
  });
}

/** All that the model was told last. */
const told = (echo: Echo): string => JSON.stringify(echo.asked.at(-1)?.messages);

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("an article goes with messages once its site is switched on, opens word by word, and a question about it has no tools", () =>
      inBrowser.run(async (world: World) => {
        await world.harbor.everything();
        await beside(world, async ({ panel, echo, show }) => {
          await show("/article");
          await panel.says("#page[data-standing=off]", /Gulls/);
          await say(panel, "hello");
          await panel.says(".conversation .answer .markdown", /hello/);
          assert.doesNotMatch(told(echo), new RegExp(MARK));
          assert.notEqual(echo.asked.at(-1)?.tools, undefined);
          await panel.press("#page-switch");
          await panel.says("#page[data-standing=on] .tokens", /about \d+ tokens/);
          await panel.press("#page-look");
          await panel.says("#page-preview pre", new RegExp(MARK));
          await say(panel, "What does this page say about gulls?");
          await panel.says(".conversation li.person:nth-last-child(2) details.attachment", new RegExp(MARK));
          await panel.says(".conversation li:last-child .tools", /Copy/);
          assert.match(told(echo), new RegExp(MARK));
          assert.equal(echo.asked.at(-1)?.tool_choice ?? "none", "none");
          // It is remembered for the site, and can be taken back.
          await world.browser.open(`${world.site.other}/article`);
          await panel.says("#page[data-standing=off]", /localhost/);
          await show("/words");
          await panel.says("#page[data-standing=on]", /127/);
          await panel.press("#page-never");
          await panel.says("#page[data-standing=never]", /You chose never for this site/);
          assert.equal(await panel.count("#page-switch"), 0);
          await panel.press("#page-again");
          await panel.says("#page[data-standing=off]", /127/);
        });
      }, WITH));

    test("pages with a password or a card field go by a click alone, and never with what stands in the field", () =>
      inBrowser.run(async (world: World) =>
        beside(world, async ({ panel, echo, show }) => {
          await show("/article");
          await panel.press("#page-switch");
          await panel.says("#page[data-standing=on]", /Gulls/);
          for (const [path, words] of [["/login", /a password field/], ["/card", /a card field/], ["/checkout", /a card field/]] as const) {
            await show(path);
            await panel.says("#page[data-standing=click] .why", words);
            await say(panel, `without ${path}`);
            await panel.says(".conversation li.answer:last-child .markdown", new RegExp(`without ${path}`));
            assert.doesNotMatch(told(echo), new RegExp(MARK));
          }
          await show("/login");
          await panel.says("#page[data-standing=click]", /Sign in/);
          await panel.press("#page-attach");
          await panel.says(".chips", /Sign in/);
          await say(panel, "and now with it");
          await panel.says(".conversation li.answer:last-child .markdown", /and now with it/);
          assert.match(told(echo), new RegExp(MARK));
          assert.doesNotMatch(told(echo), /hunter-two/);
        }), WITH));

    test("a site that the person blocked is never read, and one to be asked about by a click alone", () =>
      inBrowser.run(
        async (world: World) =>
          beside(world, async ({ panel, echo, show }) => {
            await show("/article");
            await panel.says("#page[data-standing=never]", /You blocked this site/);
            assert.equal(await panel.count("#page-switch, #page-attach, #page-menu, #summarise"), 0);
            await attempt(panel, "/summarise");
            await panel.says("#page-problem", /You blocked this site/);
            assert.equal(echo.asked.length, 0);
            await world.browser.open(`${world.site.other}/article`);
            await panel.says("#page[data-standing=click]", /asked first/);
          }),
        { ...WITH, config: '[browser]\nblocked = ["127.0.0.1"]\naskFirst = ["localhost"]\n' },
      ));

    test("a title full of our words is a foreign text, with what is hidden in it shown", () =>
      inBrowser.run(async (world: World) =>
        beside(world, async ({ panel, show }) => {
          await show("/words");
          await panel.says("#page .title > .foreign", /Harbor needs your yes: Allow once ⟨202E⟩always/);
          await panel.press("#page-once");
          await panel.says(".chips .foreign", /⟨202E⟩/);
          await say(panel, "hello");
          await panel.says(".conversation .attachment summary .foreign", /⟨202E⟩/);
          // The model says it back: its answer is its own words.
          await panel.says(".conversation .answer .markdown", /needs your yes/);
          const bare = `return [...document.querySelectorAll("*")].filter((one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.data.includes("needs your yes")) && !one.matches(".foreign, title") && !one.closest(".answer, #spoken")).map((one) => one.outerHTML)`;
          assert.deepEqual(await panel.page.run(bare), []);
          assert.deepEqual(await serious(panel.page), []);
        }), WITH));

    test("a page that is longer than the model's window is summarised in parts, and that can be stopped", () =>
      inBrowser.run(async (world: World) =>
        beside(world, async ({ panel, echo, show }) => {
          await show("/long");
          await panel.says("#page[data-standing=off]", /Long/);
          let goOn: () => void = () => undefined;
          const first = new Promise<void>((done) => (goOn = done));
          echo.script.push(async () => (await first, "summary one"), ...Array.from({ length: 40 }, (_, at) => async (asked: string) => (/Summarise this page/.test(asked) ? `In all: ${at}` : `summary ${at}`)));
          await panel.press("#summarise");
          await panel.says("#page-progress", /Reading part 1 of \d+/);
          goOn();
          await panel.says(".conversation .answer .markdown", /In all/);
          const asked = echo.asked.length;
          assert.ok(asked > 3, String(asked));
          assert.match(await panel.text(".conversation .attachment pre"), /summary one[^]*Part 2 of \d+/);
          assert.equal(await panel.count("#page-progress"), 0);
          // And stopped, nothing is sent.
          echo.script.length = 0;
          echo.script.push(() => new Promise(() => undefined));
          await attempt(panel, "/summarise");
          await panel.says("#page-progress", /Reading part 1/);
          await echo.asking(asked + 1);
          await panel.press("#page-progress-stop");
          await panel.gone("#page-progress");
          await echo.leaving(1);
          assert.equal(await panel.count(".conversation li.person"), 1);
        }, 4_096), WITH));

    // Only Chromium says where a tab is going before it is there.
    if (inBrowser.name === "chrome") test("a page that goes away while it is read is said, and nothing half is sent", () =>
      inBrowser.run(async (world: World) =>
        beside(world, async ({ panel, echo, show }) => {
          const page = await show("/leaves");
          await panel.press("#page-switch");
          await panel.says("#page[data-standing=on]", /Leaves/);
          const never = createServer(() => undefined);
          await new Promise<void>((done) => never.listen(0, "127.0.0.1", done));
          try {
            // It is on its way to a page that has not come yet.
            await page.run(`setTimeout(() => (location.href = "http://127.0.0.1:${(never.address() as AddressInfo).port}/")); return 0`);
            await until("the request", async () => new Promise<true | undefined>((done) => never.getConnections((_, many) => done(many > 0 || undefined))));
            await attempt(panel, "what does this page say?");
            await panel.says("#page-problem", /nothing was sent/);
            assert.equal(await panel.page.run(`return document.querySelector("#say-text").value`), "what does this page say?");
            assert.equal(echo.asked.length, 0);
          } finally {
            never.closeAllConnections();
            await new Promise((done) => never.close(done));
          }
        }), WITH));

    test("an @ lists the tabs, and arrows and Enter attach one", () =>
      inBrowser.run(async (world: World) =>
        beside(world, async ({ panel, echo, show }) => {
          await show("/article");
          await show("/words");
          await panel.page.run(`const field = document.querySelector("#say-text"); field.focus(); field.value = "compare @gul"; field.setSelectionRange(12, 12); field.dispatchEvent(new Event("input", { bubbles: true }))`);
          await panel.says("#at-list [role=option][aria-selected=true]", /Gulls/);
          assert.deepEqual(await serious(panel.page), []);
          await panel.page.run(`document.querySelector("#say-text").dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }))`);
          await panel.says(".chips", /Gulls about \d+ tokens/);
          assert.equal(await panel.page.run(`return document.querySelector("#say-text").value`), "compare ");
          assert.equal(echo.asked.length, 0);
          await panel.press(".chips button");
          await panel.gone(".chips .chip");
        }), WITH));

    test("the picker takes the element that is clicked, Escape takes none, and the page hears nothing of either", () =>
      inBrowser.run(async (world: World) =>
        beside(world, async ({ panel, show }) => {
          const page = await show("/handlers");
          await panel.press("#page-pick");
          await panel.says("#page-picking", /Click an element/);
          const isCovered = () => until("the picker to lie over the page", async () => ((await page.run("return document.activeElement?.localName === 'iframe'")) as boolean) || undefined);
          await isCovered();
          await page.press("Escape");
          await panel.gone("#page-picking");
          assert.equal(await panel.count(".chip"), 0);
          await panel.press("#page-pick");
          await panel.says("#page-picking", /Click an element/);
          await isCovered();
          const place = (await page.run("const { x, y } = target.getBoundingClientRect(); return { x: x + 20, y: y + 5 }")) as { x: number; y: number };
          await page.clickAt(place.x, place.y);
          await panel.says(".chips", /Handlers/);
          assert.match(await panel.text(".chips pre"), new RegExp(`^A paragraph about ${MARK}\\.$`));
          assert.deepEqual(await page.run("return heard"), []);
          assert.equal(await page.run("return document.querySelectorAll('iframe').length"), 0);
          await page.run("getSelection().selectAllChildren(target)");
          await panel.press("#page-selection");
          await until("a second chip", async () => (await panel.count(".chip")) === 2 || undefined);
        }), WITH));

    test("what was asked in the menu of a page becomes a chip in the panel of that window, and nothing is sent", () =>
      inBrowser.run(async (world: World) =>
        beside(world, async ({ panel, echo, show }) => {
          await show("/article");
          await panel.go("servers");
          // What the background does at such a click, which no test can make: the menu is the browser's own.
          const asked = (more: string) => `
            const [tab] = await chrome.tabs.query({ url: ${JSON.stringify("http://127.0.0.1/*")} });
            await chrome.storage.session.set({ pageAsked: { window: tab.windowId, tab: tab.id, url: tab.url, text: "", ${more} } });
            return 0`;
          await panel.page.run(asked('kind: "selection", text: "these words alone"'));
          await panel.says(".chips", /Gulls/);
          assert.equal(await panel.text(".chips pre"), "these words alone");
          await panel.page.run(asked('kind: "page"'));
          await panel.says(".chips li:nth-child(2) pre", new RegExp(MARK));
          assert.equal(await panel.page.run("return (await chrome.storage.session.get('pageAsked')).pageAsked"), null);
          assert.equal(echo.asked.length, 0);
          await panel.press("#page-picture");
          await panel.says("#page-problem", /does not say that it sees pictures/);
        }), WITH));

    // Chromium's question is a window that no test can click.
    // Nobody can click Chromium's own window for permissions.
    if (inBrowser.name === "firefox") test("the browser is asked for the site in the click itself, and for the names of tabs", () =>
      inBrowser.run(async (world: World) =>
        beside(world, async ({ panel, show }) => {
          const granted = () => panel.page.run("const { origins, permissions } = await chrome.permissions.getAll(); return [origins, permissions.includes('tabs')]");
          await show("/article");
          await panel.says("#page[data-standing=off]", /127/);
          assert.deepEqual(await granted(), [[], false]);
          await panel.click("#page-switch");
          await panel.says("#page[data-standing=on] .tokens", /about/);
          assert.deepEqual(await granted(), [["http://127.0.0.1/*"], false]);
          await panel.page.run(`const field = document.querySelector("#say-text"); field.focus(); field.value = "@show"; field.setSelectionRange(5, 5); field.dispatchEvent(new Event("input", { bubbles: true }))`);
          await panel.says("#at-list [role=option]", /Show all open tabs/);
          await panel.page.press("Enter");
          await until("the permission", async () => JSON.stringify(await granted()) === '[["http://127.0.0.1/*"],true]' || undefined);
        }), { page: site }));

    test("without the browser's permission nothing is read, and that is said", () =>
      inBrowser.run(async (world: World) =>
        beside(world, async ({ panel, echo, show }) => {
          await show("/article");
          // The site beside the panel is known by its address alone.
          await panel.says("#page[data-standing=off]", /127\.0\.0\.1/);
          assert.equal(await panel.count("#page .title"), 0);
          // Nobody has clicked: the browser refuses at once.
          await panel.press("#page-switch");
          await panel.says("#page-problem", /nothing was read/);
          await say(panel, "hello");
          await panel.says(".conversation .answer .markdown", /hello/);
          assert.doesNotMatch(told(echo), new RegExp(MARK));
        }), { page: site }));
  });
}
