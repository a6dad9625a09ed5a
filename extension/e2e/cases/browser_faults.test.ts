// What happens to a tab, the extension or the bridge while a browser tool is at work: each call ends soon and says what was the matter.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { PART } from "../../harbor/browser/page/commands.ts";
import { client } from "../browser/clients.ts";
import { type Page, until } from "../driver/browser.ts";
import type { ChromiumPage } from "../driver/chromium.ts";
import type { Given, McpClient } from "../driver/mcp_client.ts";
import { type World, inBrowsers } from "../driver/world.ts";

/** How soon a call has to end after what ends it. What is lost is noticed by an event: the wait that is interrupted lasts longer. */
const SOON_MS = 10_000;
const LONG = { text: "this never comes", timeout: 30 };

/** A button in each place of a grid; each says that it was the one. */
const GRID = `<title>Grid</title><style>body { margin: 0 } button { width: 70px; height: 40px; padding: 0 }</style>
  ${Array.from({ length: 200 }, (_, n) => `<button onclick="window.hit = [...(window.hit ?? []), ${n}]">No. ${n}.</button>`).join(" ")}`;

function answers(path: string): { html: string } {
  if (path.startsWith("/grid")) return { html: GRID };
  return { html: `<!doctype html><title>${path}</title><h1>This is ${path}</h1><button>Press</button>` };
}

/** The tab of a test's own, in the client's session. */
class Tab {
  readonly id: number;
  readonly page: ChromiumPage;
  readonly #mcp: McpClient;
  readonly #extension: string;

  private constructor(mcp: McpClient, extension: string, id: number, page: Page) {
    this.#mcp = mcp;
    this.#extension = extension;
    this.id = id;
    this.page = page as ChromiumPage;
  }

  static async open(mcp: McpClient, { browser, site }: World, path: string): Promise<Tab> {
    const given = await mcp.call("browser_tabs", { action: "new", url: `${site.origin}${path}` });
    assert.ok(!given.isError, given.text);
    // What is told is told of the new tab.
    assert.equal(given.structured["page"].url, `${site.origin}${path}`);
    return new Tab(mcp, browser.harborUrl("").replace(/\/$/, ""), given.structured["page"].tab_id, await browser.find(path));
  }

  call(tool: string, args: object = {}): Promise<Given> {
    return this.#mcp.call(`browser_${tool}`, { ...args, tabId: this.id });
  }

  /** Of the session, whichever tab that means. */
  session(tool: string, args: object = {}): Promise<Given> {
    return this.#mcp.call(`browser_${tool}`, args);
  }

  /** The ref of a button. */
  async ref(name: string): Promise<string> {
    const { text } = await this.call("find", { text: name });
    const [, ref] = new RegExp(`"${name}" \\[ref=(f\\d+e\\d+)\\]`).exec(text) ?? [];
    assert.ok(ref !== undefined, text);
    return ref;
  }

  /** What a call that waits long says when this happens while it waits, and how soon. */
  async during(happens: () => Promise<unknown>, args: object = LONG): Promise<Given> {
    const waiting = this.call("wait_for", args).catch((error: Error): Given => ({ text: error.message, isError: true, structured: {}, images: [] }));
    let early: Given | undefined;
    void waiting.then((given) => (early = given));
    // The extension's part is put into a document by the first call there.
    await until("the call to be at work", async () => {
      assert.equal(early, undefined);
      const begun = await this.page.runInWorldOf(this.#extension, `return ${JSON.stringify(PART)} in globalThis`).catch(() => false);
      return begun === true || undefined;
    });
    const at = Date.now();
    await happens();
    const given = await waiting;
    assert.ok(Date.now() - at < SOON_MS, `${Date.now() - at} ms: ${given.text}`);
    return given;
  }
}

/** Fails, soon, with that sentence. */
async function fails(call: Promise<Given>, sentence: RegExp): Promise<void> {
  const at = Date.now();
  const { text, isError } = await call;
  assert.equal(isError, true, text);
  assert.match(text, sentence);
  assert.ok(Date.now() - at < SOON_MS, `${Date.now() - at} ms: ${text}`);
}

interface Fault {
  name: string;
  run(tab: Tab, world: World, panel: Page): Promise<void>;
  path?: string;
}

/** Clicks some buttons of the grid; the page has to have seen those. */
async function clicksHit(tab: Tab): Promise<void> {
  const wanted = [0, 13, 88, 199];
  for (const n of wanted) {
    const { text, isError } = await tab.call("click", { target: await tab.ref(`No. ${n}.`) });
    assert.ok(!isError, text);
    assert.match(text, new RegExp(`No\\. ${n}\\.`));
  }
  assert.deepEqual(await tab.page.run("return window.hit"), wanted);
}

const FAULTS: Fault[] = [
  {
    name: "the tab is closed",
    async run(tab) {
      const { text, isError } = await tab.during(() => tab.page.close());
      assert.equal(isError, true, text);
      assert.match(text, /tab \d+ is closed/);
      await fails(tab.call("snapshot"), /tab/);
    },
  },
  {
    name: "the page crashes; loaded again it is there",
    async run(tab, { site }) {
      const { text, isError } = await tab.during(() => tab.page.crash());
      assert.equal(isError, true, text);
      assert.match(text, /crashed/);
      await fails(tab.call("snapshot"), /crashed.*browser_navigate/);
      await fails(tab.call("click", { target: "button" }), /crashed.*browser_navigate/);
      const again = await tab.call("navigate", { url: `${site.origin}/after` });
      assert.ok(!again.isError, again.text);
      assert.match((await tab.call("snapshot")).text, /This is \/after/);
    },
  },
  {
    name: "the browser has discarded the tab: it has another id, and is loaded again by the first call",
    async run(tab, _, panel) {
      const id = (await panel.run(`return (await chrome.tabs.discard(${tab.id})).id`)) as number;
      const listed = await until("the new id", async () => {
        const { structured } = await tab.session("tabs", { action: "list" });
        // It is the current one, as before.
        return structured["page"]?.tab_id === id ? structured : undefined;
      });
      assert.ok(!listed["tabs"].some(({ tab_id }: { tab_id: number }) => tab_id === tab.id));
      assert.match(listed["events"].join("; "), new RegExp(`threw tab ${tab.id} out of memory`));
      await fails(tab.call("snapshot"), /tab/);
      const { text, isError } = await tab.session("snapshot");
      assert.ok(!isError, text);
      assert.match(text, /This is \/tab/);
    },
  },
  {
    name: "the page goes to another document: a wait goes on there",
    async run(tab, { site }) {
      const { text, isError } = await tab.during(() => tab.page.goto(`${site.origin}/elsewhere`), { text: "This is /elsewhere", timeout: 30 });
      assert.ok(!isError, text);
    },
  },
  {
    name: "a ref of an earlier document is refused",
    async run(tab, { site }) {
      const target = await tab.ref("Press");
      assert.ok(!(await tab.call("navigate", { url: `${site.origin}/next` })).isError);
      await fails(tab.call("click", { target }), /another (tab or )?document.*new snapshot/);
    },
  },
  ...[0.67, 2].map((zoom): Fault => ({
    name: `zoomed to ${100 * zoom} % the right element is clicked`,
    path: "/grid",
    async run(tab, _, panel) {
      await panel.run(`await chrome.tabs.setZoomSettings(${tab.id}, { scope: "per-tab" }); await chrome.tabs.setZoom(${tab.id}, ${zoom})`);
      await tab.page.comesTo("the zoom", `Math.abs(devicePixelRatio - ${zoom}) < 0.02`);
      await clicksHit(tab);
    },
  })),
  {
    name: "with two of the screen's pixels to one of the page's the right element is clicked",
    path: "/grid",
    async run(tab) {
      await tab.page.ratio(2);
      await tab.page.comesTo("the ratio", "devicePixelRatio === 2");
      await clicksHit(tab);
    },
  },
  {
    name: "the extension's background ends: the call fails, and the next one is as before",
    async run(tab, { browser }, panel) {
      const { text, isError } = await tab.during(() => browser.endBackgrounds(panel));
      assert.equal(isError, true, text);
      assert.match(text, /browser/);
      await until("the browser to be back", async () => !(await tab.call("snapshot").catch(() => ({ isError: true }))).isError || undefined);
    },
  },
  {
    name: "the bridge is killed: the call fails, and a new tab can be opened when it is back",
    async run(tab, { harbor, site }) {
      const { bridge } = JSON.parse(await harbor.cli("status", "--json"));
      const { text, isError } = await tab.during(async () => execFileSync("kill", ["-9", String(bridge.pid)]));
      assert.equal(isError, true, text);
      assert.match(text, /Harbor|bridge/);
      await until("a new tab", async () => {
        const url = `${site.origin}/again`;
        const opened = await tab.session("tabs", { action: "new", url }).catch(() => undefined);
        return opened?.structured["page"]?.url === url || undefined;
      });
    },
  },
];

// Firefox has no way to crash a page from outside.
for (const inBrowser of inBrowsers.filter(({ name }) => name === "chrome")) {
  test(`${inBrowser.name}: faults while a browser tool is at work`, (t) =>
    inBrowser.run(
      async (world: World) => {
        const mcp = await client(world, "faults");
        const panel = await world.browser.find("sidebar.html");
        try {
          await t.test("without any tab yet there is a list of none", async () => {
            const { text, isError, structured } = await mcp.call("browser_tabs", { action: "list" });
            assert.ok(!isError, text);
            assert.deepEqual(structured["tabs"], []);
          });
          for (const [n, { name, run, path = "/tab" }] of FAULTS.entries()) {
            await t.test(name, async () => run(await Tab.open(mcp, world, `${path}/${n}/`), world, panel));
          }
        } finally {
          await mcp.end();
        }
      },
      { mayUsePages: true, page: answers },
    ));
}
