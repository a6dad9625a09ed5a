// Pages that are too much: without an end, or longer than anybody reads. Each call ends within its time and says what was the matter.

import assert from "node:assert/strict";
import { test } from "node:test";
import { client } from "../browser/clients.ts";
import { until } from "../driver/browser.ts";
import type { Given, McpClient } from "../driver/mcp_client.ts";
import type { Answers } from "../driver/site.ts";
import { type World, inBrowsers } from "../driver/world.ts";

/** A call that does not end by itself is ended early where a case waits for that. The other cases have the usual limit: a slow machine needs it. */
const ENDED_EARLY = "[limits.server.browser]\ndefaultTimeoutMs = 8000\n";

/** How soon a call ends that somebody else's page, or a page that is known to be stuck, has nothing to do with. */
const SOON_MS = 6_000;

/** So long is what a page says, and so long an answer may be then, in characters. */
const HUGE = 1_000_000;
const MOST_CHARS = 60_000;

const PAGES: { [path: string]: string } = {
  "/stuck": `<title>Stuck</title><button onclick="for (;;);">Hang</button>`,
  "/asks": `<title>Asks</title><h1>Asks</h1><button onclick="window.clicked = true">Go on</button><script>setInterval(() => { for (let n = 0; n < 30; n++) { alert("a".repeat(3000)); confirm("again?"); } }, 1)</script>`,
  "/huge": `<title></title><h1>Huge</h1><button></button><input aria-label=Field><a>Link</a><p></p><script>
    const text = "huge ".repeat(${HUGE / 5});
    document.title = text;
    for (const one of document.querySelectorAll("button, a, p")) one.textContent = text;
    document.querySelector("a").href = "/x?" + text;
    document.querySelector("input").value = text;
    document.querySelector("button").onclick = () => { alert(text); document.title = text + "!"; };
    history.replaceState(null, "", "#" + "x".repeat(${HUGE / 10}));
    console.error(text); console.log(text);
  </script>`,
};

PAGES["/frames"] = `<title>Frames</title>${Array.from({ length: 100 }, (_, at) => `<iframe width=80 height=30 srcdoc="<button onclick=&quot;parent.document.title += ' ${at}'&quot;>Frame ${at}</button>"></iframe>`).join("")}`;

const answers: Answers = (path) => ({ html: PAGES[path] ?? `<!doctype html><title>${path}</title><h1>This is ${path}</h1>` });

/** What a call gives, and that it does so soon. */
async function soon(call: Promise<Given>): Promise<Given> {
  const at = Date.now();
  const given = await call;
  assert.ok(Date.now() - at < SOON_MS, `${Date.now() - at} ms: ${given.text.slice(0, 500)}`);
  return given;
}

interface Case {
  name: string;
  run(mcp: McpClient, open: (path: string) => Promise<number>): Promise<void>;
}

const STUCK: Case[] = [
  {
    name: "a page that never comes back is said to answer nothing, stops no other one, and can be closed",
    async run(mcp, open) {
      const [stuck, other] = [await open("/stuck"), await open("/other")];
      const hanging = mcp.call("browser_click", { target: "button", tabId: stuck });
      const isBusy = async () => (await mcp.call("browser_snapshot", { tabId: stuck })).isError || undefined;
      await until("the page to hang", isBusy);
      for (const [tool, args] of [["snapshot", {}], ["click", { target: "button" }], ["navigate_back", {}]] as const) {
        const { text, isError } = await soon(mcp.call(`browser_${tool}`, { ...args, tabId: stuck }));
        assert.ok(isError, `${tool}: ${text}`);
        assert.match(text, /the page does not answer.*browser_close/, tool);
      }
      const { text, isError } = await hanging;
      assert.ok(isError, text);
      assert.match(text, /the page did not answer within 7\.\d+ s/);
      assert.match((await soon(mcp.call("browser_snapshot", { tabId: other }))).text, /This is \/other/);
      assert.ok(!(await soon(mcp.call("browser_close", { tabId: stuck }))).isError);
      const { structured } = await mcp.call("browser_tabs", { action: "list" });
      assert.ok(!structured["tabs"].some(({ tab_id }: { tab_id: number }) => tab_id === stuck), JSON.stringify(structured));
    },
  },
];

const LARGE: Case[] = [
  {
    name: "a page that opens questions for ever is read and used",
    async run(mcp, open) {
      const tabId = await open("/asks");
      for (const [tool, args] of [["snapshot", {}], ["click", { target: "button" }], ["read", {}]] as const) {
        const { text, isError, structured } = await soon(mcp.call(`browser_${tool}`, { ...args, tabId }));
        assert.ok(!isError, text);
        assert.ok(text.length + JSON.stringify(structured).length < MOST_CHARS, `${tool}: ${text.length}`);
      }
      const { text } = await until("so many that only the newest are told", async () => {
        const given = await mcp.call("browser_snapshot", { tabId });
        return / before these/.test(given.text) ? given : undefined;
      });
      assert.match(text, /… \d+ before these\n- (alert|confirm)/);
      assert.match((await mcp.call("browser_find", { text: "Go on", tabId })).text, /button "Go on"/);
      // It would take a core from the pages of the next cases.
      assert.ok(!(await mcp.call("browser_close", { tabId })).isError);
    },
  },
  {
    name: "however long a page's words are, an answer is not",
    async run(mcp, open) {
      const tabId = await open("/huge");
      const calls: [string, object][] = [
        ["snapshot", {}],
        ["snapshot", { filter: "interactive" }],
        ["find", { text: "huge" }],
        ["find", { regex: "(h+u+)+ge" }],
        ["read", { mode: "text" }],
        ["read", { mode: "markdown" }],
        ["read", { mode: "html" }],
        ["click", { target: "button", snapshot: true }],
        ["hover", { target: "a" }],
        ["type", { target: "input", text: "x" }],
        ["type", { target: "h1", text: "x" }],
        ["console_messages", {}],
        ["network_requests", {}],
        ["tabs", { action: "list" }],
        ["session", { action: "events" }],
      ];
      for (const [tool, args] of calls) {
        const { text, structured } = await mcp.call(`browser_${tool}`, tool === "session" ? args : { ...args, tabId });
        const length = text.length + JSON.stringify(structured).length;
        assert.ok(length < MOST_CHARS, `${tool}: ${length}: ${text.slice(0, 300)}`);
        if (tool !== "session") assert.match(text, /page-text/, tool);
      }
      assert.ok(!(await mcp.call("browser_close", { tabId })).isError);
    },
  },
  {
    name: "a page of a hundred frames is read whole, and used in the last of them",
    async run(mcp, open) {
      const tabId = await open("/frames");
      const { text } = await mcp.call("browser_snapshot", { tabId });
      const target = /button "Frame 99" \[ref=(\w+)\]/.exec(text)?.[1];
      assert.equal(text.match(/button "Frame \d+"/g)?.length, 100, text.slice(0, 500));
      const clicked = await mcp.call("browser_click", { target, tabId });
      assert.ok(!clicked.isError && clicked.structured["page"].title === "Frames 99", clicked.text);
    },
  },
];

const GROUPS = [
  { about: "that never answer", cases: STUCK, config: ENDED_EARLY },
  { about: "that are too much", cases: LARGE, config: "" },
];

for (const inBrowser of inBrowsers) {
  for (const { about, cases, config } of GROUPS) {
    test(`${inBrowser.name}: pages ${about}`, (t) =>
      inBrowser.run(
        async (world: World) => {
          const mcp = await client(world, "heavy");
          // Another site for each: a browser may have one process for all tabs of a site.
          const open = async (path: string) => {
            const given = await mcp.call("browser_tabs", { action: "new", url: `${world.site.origin.replace("127.0.0.1", `${path.slice(1)}.localhost`)}${path}` });
            assert.ok(!given.isError, given.text);
            return given.structured["page"].tab_id as number;
          };
          try {
            for (const { name, run } of cases) await t.test(name, () => run(mcp, open));
          } finally {
            await mcp.end();
          }
        },
        { mayUsePages: true, config, page: answers },
      ));
  }
}
