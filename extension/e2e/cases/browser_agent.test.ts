// The agent in the person's browser: a question at the command line, a scripted model, the browser's tools, a page.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { switchOn } from "../browser/clients.ts";
import { type Page, until } from "../driver/browser.ts";
import { Echo } from "../driver/echo.ts";
import { Terminal } from "../driver/terminal.ts";
import { type World, inBrowsers } from "../driver/world.ts";

const ORDER = `<!doctype html><meta charset=utf-8><title>Order</title>
<form onsubmit="event.preventDefault(); document.body.dataset.sent = JSON.stringify(Object.fromEntries(new FormData(this))); out.textContent = 'Thank you, order 4711.'">
<label>Name <input name=name></label><label>Size <select name=size><option value=s>Small</option><option value=l>Large</option></select></label><button>Send</button></form>
<p id=out role=status></p>`;

/** The browser's tools need no list of definitions in a window of this many tokens. */
const WINDOW = 200_000;

/** The ref of what has this role and name in what the model was told. */
function refIn(told: string, role: string, name: string): string {
  const ref = new RegExp(`\\b${role} "${name}[^"]*" \\[ref=(f\\d+e\\d+)\\]`).exec(told)?.[1];
  assert.ok(ref !== undefined, `no ${role} ${name} in ${told}`);
  return ref;
}

interface Tab {
  url: string;
  grouped: boolean;
}

/** The browser's tabs as it knows them itself. */
const tabsOf = (own: Page): Promise<Tab[]> =>
  own.run(`const all = await (globalThis.browser ?? chrome).tabs.query({}); return all.map(({ url = "", groupId }) => ({ url, grouped: groupId !== undefined && groupId !== -1 }))`) as Promise<Tab[]>;

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("the agent orders something in tabs of its own, and they are the person's when its turn ends", () =>
      inBrowser.run(
        async (world: World) => {
          const { browser, harbor, site } = world;
          const person = await browser.open(`${site.origin}/person`);
          const panel = await switchOn(world);
          const echo = await Echo.start(harbor, "echo", WINDOW);
          const isMine = ({ url }: Tab) => url.endsWith("/order");
          const during: { tabs: Tab[]; others: string }[] = [];
          echo.script.push(
            async () => ({ tool: "browser_navigate", args: { url: `${site.origin}/order` } }),
            async () => ({ tool: "browser_snapshot", args: {} }),
            async (told) => {
              const fields = [
                { target: refIn(told, "textbox", "Name"), name: "Name", type: "textbox", value: "Ann" },
                { target: refIn(told, "combobox", "Size"), name: "Size", type: "combobox", value: "Large" },
              ];
              return { tool: "browser_fill_form", args: { fields, snapshot: true } };
            },
            async (told) => {
              // Neither the command line nor anybody else has these tabs.
              during.push({ tabs: (await tabsOf(panel)).filter(isMine), others: await harbor.cli("call", "browser/browser_tabs", '{"action":"list"}') });
              return { tool: "browser_click", args: { target: refIn(told, "button", "Send") } };
            },
            async () => ({ tool: "browser_find", args: { text: "order" } }),
            async (told) => `Ordered: ${/Thank you, order (\d+)/.exec(told)?.[1]}`,
          );
          const { asked, shown, code } = await new Terminal(harbor, "ask", "--tools", "browser", "Order a large one for Ann in the browser.").sayYes();
          assert.deepEqual([code, /Ordered: 4711/.test(shown)], [0, true], shown);
          assert.deepEqual(["navigate", "fill_form", "click"].map((tool) => asked.includes(`browser/browser_${tool}`)), [false, true, true], asked.join());
          const ordered = await browser.find("/order");
          assert.deepEqual(JSON.parse((await ordered.run("return document.body.dataset.sent")) as string), { name: "Ann", size: "l" });
          assert.deepEqual(during.map(({ tabs }) => tabs.map(({ grouped }) => grouped)), [[true]]);
          assert.doesNotMatch(during[0]?.others ?? "", /order|person/);
          // Its session is over: the tab is one of the person's, and their own is where it was.
          await until("the tab to be the person's", async () => ((await tabsOf(panel)).filter(isMine).every(({ grouped }) => !grouped) ? true : undefined));
          assert.equal((await tabsOf(panel)).filter(isMine).length, 1);
          // What is left is the command line's, which had asked for its tabs.
          const stops = async () => (await panel.run("return [...document.querySelectorAll('button')].filter(({ textContent }) => textContent === 'Stop').length")) as number;
          await until("the agent's session to be gone", async () => ((await stops()) === 1 ? true : undefined));
          assert.equal(await person.run("return location.pathname"), "/person");
          await echo.end();
        },
        { mayUsePages: true, page: (path) => ({ html: path === "/order" ? ORDER : "<title>Person</title><h1>The person's page</h1>" }) },
      ));
  });
}
