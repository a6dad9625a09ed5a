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
const GRID = `<title>Grid</title><style>body { margin: 0 } button { width: 70px; height: 40px; padding: 0 } button:nth-child(15) { background: #f00; color: #f00; border-color: #f00 }</style>
  ${Array.from({ length: 200 }, (_, n) => `<button onclick="window.hit = [...(window.hit ?? []), ${n}]">No. ${n}.</button>`).join(" ")}`;

function answers(path: string): { html: string; isEndless?: boolean } {
  // A browser shows nothing before it has a little.
  if (path.startsWith("/never")) return { html: `<title>Never</title><h1>As far as it came</h1>${"<p>more</p>".repeat(500)}`, isEndless: true };
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
    const waiting = this.call("wait_for", args).catch((error: Error): Given => ({ text: error.message, isError: true, structured: {}, images: [], resources: [] }));
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

/** Where the red button is in the picture is, by the picture's factor, where it is in the page. */
async function pictureFits(tab: Tab, panel: Page): Promise<void> {
  await tab.call("tabs", { action: "select", background: false });
  await tab.call("scroll", { to: "top" });
  const { images, structured, text } = await tab.call("take_screenshot", { type: "png" });
  assert.equal(images.length, 1, text);
  assert.ok(structured["width"] <= 1_568 && structured["height"] <= 1_568, text);
  const seen = (await panel.run(`
    const bytes = Uint8Array.from(atob(${JSON.stringify(images[0]?.data)}), (letter) => letter.charCodeAt(0));
    const picture = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    const { width, height } = picture;
    const pen = new OffscreenCanvas(width, height).getContext("2d");
    pen.drawImage(picture, 0, 0);
    const { data } = pen.getImageData(0, 0, width, height);
    const red = [...Array(width * height).keys()].filter((n) => data[4 * n] > 200 && data[4 * n + 1] < 60 && data[4 * n + 2] < 60);
    const middle = (all) => (Math.min(...all) + Math.max(...all) + 1) / 2;
    return { x: middle(red.map((n) => n % width)), y: middle(red.map((n) => Math.floor(n / width))) };
  `)) as { x: number; y: number };
  const there = (await tab.page.run("const { x, y, width, height } = document.querySelector('button:nth-child(15)').getBoundingClientRect(); return { x: x + width / 2, y: y + height / 2 }")) as typeof seen;
  const { structured: plain, text: told } = await tab.call("take_screenshot", { type: "png", scale: "css" });
  assert.equal(plain["factor"], Math.min(1, structured["factor"]), told);
  for (const side of ["x", "y"] as const) assert.ok(Math.abs(seen[side] / structured["factor"] - there[side]) < 2, JSON.stringify({ seen, there, structured }));
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
      assert.match(listed["events"].join("; "), new RegExp(`unloaded tab ${tab.id} to save memory`));
      await fails(tab.call("snapshot"), /tab/);
      const { text, isError } = await tab.session("snapshot");
      assert.ok(!isError, text);
      assert.match(text, /This is \/tab/);
      const clicked = await tab.session("click", { target: "button" });
      assert.ok(!clicked.isError, clicked.text);
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
    name: "a page that never comes to its end is said to be loading, and read as far as it came",
    async run(tab, { site }) {
      const { text, isError } = await tab.call("navigate", { url: `${site.origin}/never` });
      assert.ok(!isError, text);
      assert.match(text, /has not loaded within 10 s and is still loading/);
      assert.match((await tab.call("snapshot")).text, /As far as it came.*\/never \(still loading\)/s);
      await fails(tab.call("wait_for", { load: true, timeout: 1 }), /has not loaded within 1 s/);
      assert.match((await tab.call("navigate", { url: `${site.origin}/after-never` })).text, /The page is there/);
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
    name: `zoomed to ${100 * zoom} % the right element is clicked, and a picture is to scale`,
    path: "/grid",
    async run(tab, _, panel) {
      await panel.run(`await chrome.tabs.setZoomSettings(${tab.id}, { scope: "per-tab" }); await chrome.tabs.setZoom(${tab.id}, ${zoom})`);
      await tab.page.comesTo("the zoom", `Math.abs(devicePixelRatio - ${zoom}) < 0.02`);
      await clicksHit(tab);
      await pictureFits(tab, panel);
    },
  })),
  {
    name: "with two of the screen's pixels to one of the page's the right element is clicked, and a picture is to scale",
    path: "/grid",
    async run(tab, _, panel) {
      await tab.page.ratio(2);
      await tab.page.comesTo("the ratio", "devicePixelRatio === 2");
      await clicksHit(tab);
      await pictureFits(tab, panel);
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
