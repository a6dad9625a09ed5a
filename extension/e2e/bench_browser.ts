// What an AI client pays for a browser: Harbor's tools beside two public servers of the same kind, in one run, in turn.
//
//   MCP's SDK ─► harbor mcp ─► bridge ─► extension ─► a page in the person's browser
//   MCP's SDK ─► @playwright/mcp, chrome-devtools-mcp ─► a page in a browser of their own
//
// Owns the measurement and its table. All browsers are this machine's Chromium. Must never measure a call that failed.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { client } from "./browser/clients.ts";
import type { Harbor } from "./driver/harbor.ts";
import { SERVERS } from "./driver/harbor.ts";
import { McpClient } from "./driver/mcp_client.ts";
import type { Answers } from "./driver/site.ts";
import { type World, inBrowsers } from "./driver/world.ts";

/** Where scripts/peers has put the others. */
const PEERS = process.env["HARBOR_BENCH_PEERS"] ?? join(__ROOT__, "..", ".harbor-test", "browser-peers");
const CHROMIUM = process.env["HARBOR_BENCH_CHROMIUM"] ?? "/usr/bin/chromium";

const quick = process.argv.includes("--quick");
const ROUNDS = quick ? 2 : 10;
/** Calls of a round: of a small page, and of the table. */
const CALLS = quick ? 3 : 20;
const LARGE_CALLS = quick ? 1 : 2;
const ROWS = 2000;
/** Stands in one row, behind those that a short snapshot has. */
const WANTED = "Row 1777";

const SMALL = `<!doctype html><meta charset=utf-8><title>Small</title><h1>Small</h1><form><label>Name <input></label><button>Send</button></form>
  <ul>${Array.from({ length: 20 }, (_, at) => `<li><a href="/small?${at}">Link ${at}</a></li>`).join("")}</ul><script>console.warn("one message")</script>`;
const rows = Array.from({ length: ROWS }, (_, at) => `<tr><td>Row ${at}</td><td>Ann Example ${at}</td><td><a href="/small?${at}">Open</a></td><td>${at * 7} EUR</td></tr>`);
const TABLE = `<!doctype html><meta charset=utf-8><title>Table</title><table><tr><th>No</th><th>Name</th><th>Link</th><th>Sum</th></tr>${rows.join("")}</table>`;
const fields = Array.from({ length: 10 }, (_, at) => `<label>Field ${at} <input id=field${at}></label>`).join("");
const FORM = `<!doctype html><meta charset=utf-8><title>Form</title><h1>Form</h1><button id=click>Count</button><output id=count>0</output><input id=text aria-label=Text>
  <select id=list aria-label=List><option>one<option>two</select><form onsubmit="event.preventDefault(); sent.textContent = 'sent ' + field9.value">${fields}<button id=send>Send</button></form>
  <p id=sent></p><script>click.onclick = () => (count.textContent = Number(count.textContent) + 1);</script>`;
const pages: Answers = (path) => ({ html: path.startsWith("/table") ? TABLE : path.startsWith("/form") ? FORM : SMALL });

type Call = [tool: string, args: object];

interface Program {
  name: string;
  mcp: McpClient;
  goTo(url: string): Call;
  snapshot: Call;
  messages: Call;
  find: Call;
  /** Whether it has Playwright's tools that act, whose targets are selectors, too. */
  acts: boolean;
}

/** What is done in the page of the form, by its name in the figures. The list takes another value each time. */
const ACTS: { [act in "click" | "hover" | "type" | "select" | "key"]: (made: number) => Call } = {
  click: () => ["browser_click", { element: "Count", target: "#click" }],
  hover: () => ["browser_hover", { element: "Count", target: "#click" }],
  type: (made) => ["browser_type", { element: "Text", target: "#text", text: `text ${made}` }],
  select: (made) => ["browser_select_option", { element: "List", target: "#list", values: [made % 2 === 0 ? "two" : "one"] }],
  key: () => ["browser_press_key", { key: "a" }],
};
const ALL_FIELDS = Array.from({ length: 10 }, (_, at) => ({ target: `#field${at}`, element: `Field ${at}`, name: `Field ${at}`, type: "textbox", value: `value ${at}` }));
const FILLED: Call[] = [["browser_fill_form", { fields: ALL_FIELDS }], ["browser_click", { element: "Send", target: "#send" }]];

/** The calls of those that have Playwright's names. */
const NAMED: Omit<Program, "name" | "mcp"> = {
  goTo: (url) => ["browser_navigate", { url }],
  snapshot: ["browser_snapshot", {}],
  messages: ["browser_console_messages", { level: "warning" }],
  find: ["browser_find", { text: WANTED }],
  acts: true,
};

/** One of the others, with a home of its own in the test's directory. */
async function peer(harbor: Harbor, name: string, packageName: string, args: (home: string) => string[]): Promise<{ mcp: McpClient; name: string }> {
  const place = join(PEERS, name, "node_modules", packageName);
  const { version, bin } = JSON.parse(await readFile(join(place, "package.json"), "utf8"));
  const program = join(place, typeof bin === "string" ? bin : Object.entries(bin as { [name: string]: string }).find(([each]) => /mcp$/.test(each))?.[1] ?? "");
  const env = { PATH: process.env["PATH"], HOME: harbor.dir, CHROME_DEVTOOLS_MCP_NO_USAGE_STATISTICS: "1" };
  const packages = join(SERVERS, "npm/node_modules");
  return { mcp: await McpClient.start({ program: process.execPath, args: [program, ...args(harbor.dir)], env, packages }, "bench"), name: `${packageName} ${version}` };
}

/** The three of them. */
async function programs(world: World): Promise<Program[]> {
  const harbor: Program = { ...NAMED, name: "Harbor", mcp: await client(world, "bench") };
  const playwright: Program = {
    ...NAMED,
    ...(await peer(world.harbor, "playwright", "@playwright/mcp", (home) => ["--headless", "--isolated", "--no-sandbox", "--executable-path", CHROMIUM, "--output-dir", join(home, "playwright")])),
  };
  const devtools = await peer(world.harbor, "devtools", "chrome-devtools-mcp", () => ["--headless", "--isolated", "--executablePath", CHROMIUM, "--chromeArg=--no-sandbox"]);
  const pageId = Number(/^(\d+):/m.exec((await devtools.mcp.call("list_pages")).text)?.[1]);
  return [
    harbor,
    playwright,
    {
      ...devtools,
      goTo: (url) => ["navigate_page", { pageId, type: "url", url }],
      snapshot: ["take_snapshot", { pageId }],
      messages: ["list_console_messages", { pageId }],
      // There is no tool for it: a client takes the whole snapshot and looks.
      find: ["take_snapshot", { pageId }],
      acts: false,
    },
  ];
}

interface Took {
  ms: number;
  /** What the model is told, in bytes. */
  bytes: number;
}

/** Makes a call, whose answer has to have this in it. */
async function timed({ mcp }: Program, [tool, args]: Call, has: RegExp): Promise<Took> {
  const from = performance.now();
  const { text, isError } = await mcp.call(tool, args);
  const ms = performance.now() - from;
  assert.ok(!isError && has.test(text), `${tool}: ${text.slice(0, 500)}`);
  return { ms, bytes: Buffer.byteLength(text) };
}

const median = (numbers: number[]): number => numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? Number.NaN;

/** What was measured of each of them, call by call. */
interface Figures {
  tools: number[];
  small: number[];
  messages: number[];
  tableBytes: number[];
  table: number[];
  find: number[];
  click: number[];
  hover: number[];
  type: number[];
  select: number[];
  key: number[];
  form: number[];
}

/** Acts in the page of the form, and then fills and sends it; the next snapshot has what came of it. */
async function act(program: Program, origin: string, own: Figures): Promise<void> {
  await program.mcp.call(...program.goTo(`${origin}/form`));
  for (const [name, callOf] of Object.entries(ACTS) as [keyof typeof ACTS, (made: number) => Call][]) {
    for (let made = 0; made < CALLS; made += 1) own[name].push((await timed(program, callOf(made), /./)).ms);
  }
  let whole = 0;
  for (const call of FILLED) whole += (await timed(program, call, /./)).ms;
  own.form.push(whole);
  await timed(program, program.snapshot, new RegExp(`${CALLS}[^]*sent value 9`));
}

async function measure(all: Program[], origin: string): Promise<Figures[]> {
  const took = all.map((): Figures => ({ tools: [], small: [], messages: [], tableBytes: [], table: [], find: [], click: [], hover: [], type: [], select: [], key: [], form: [] }));
  for (let round = 0; round < ROUNDS; round += 1) {
    // One of them after the other, and another one first each time.
    for (let turn = 0; turn < all.length; turn += 1) {
      const at = (round + turn) % all.length;
      const [program, own] = [all[at], took[at]];
      if (program === undefined || own === undefined) continue;
      const times = async (call: Call, has: RegExp, calls: number) => {
        const each: Took[] = [];
        for (let made = 0; made < calls; made += 1) each.push(await timed(program, call, has));
        return each;
      };
      await program.mcp.call(...program.goTo(`${origin}/small`));
      own.small.push(...(await times(program.snapshot, /Link 7/, CALLS)).map(({ ms }) => ms));
      own.messages.push(...(await times(program.messages, /message/, CALLS)).map(({ ms }) => ms));
      await program.mcp.call(...program.goTo(`${origin}/table`));
      const tables = await times(program.snapshot, /Row 7\b/, LARGE_CALLS);
      own.table.push(...tables.map(({ ms }) => ms));
      own.tableBytes.push(...tables.map(({ bytes }) => bytes));
      own.find.push(...(await times(program.find, new RegExp(WANTED), LARGE_CALLS)).map(({ ms }) => ms));
      if (program.acts) await act(program, origin, own);
    }
  }
  for (const [at, { mcp }] of all.entries()) took[at]?.tools.push(Buffer.byteLength(JSON.stringify({ tools: await mcp.tools() })));
  return took;
}

/** A row of sizes: Harbor's, theirs, and how many times Harbor's theirs are. */
function sizes(what: string, name: "tools" | "tableBytes", goal: string, all: Figures[]): string {
  const [own = Number.NaN, ...others] = all.map((figures) => median(figures[name]) / 1000);
  return `| ${what} | ${own.toFixed(1)} | ${others.map((other) => `${other.toFixed(1)} | ${(other / own).toFixed(1)}`).join(" | ")} | ${goal} |`;
}

/** A row of times, the best and the median; the medians are compared. */
function times(what: string, name: keyof Figures, goal: string, all: Figures[]): string {
  const shown = (found: number[]) => (found.length === 0 ? "–" : `${Math.min(...found).toFixed(0)} / ${median(found).toFixed(0)}`);
  const [own = [], ...others] = all.map((figures) => figures[name]);
  return `| ${what} | ${shown(own)} | ${others.map((other) => `${shown(other)} | ${other.length === 0 ? "–" : (median(other) / median(own)).toFixed(1)}`).join(" | ")} | ${goal} |`;
}

async function report(world: World): Promise<string> {
  const load = loadavg().map((one) => one.toFixed(2)).join(" ");
  const all = await programs(world);
  try {
    const found = await measure(all, world.site.origin);
    const [, playwright = "", devtools = ""] = all.map(({ name }) => name);
    return `## Browser tools

${new Date().toISOString().slice(0, 16).replace("T", " ")} UTC; ${cpus()[0]?.model ?? "?"}, ${cpus().length} cores, load average before: ${load}; ${process.env["HARBOR_TEST_BIN"]?.endsWith("release") ? "release" : "debug"} build of Harbor. ${ROUNDS} rounds, in turn.
Times are the best and the median, in ms. Behind the figures of another one: how many times Harbor's the median is. Harbor's tab is in the background, where a busy machine
gives it less; the others have theirs in front.

| | Harbor | ${playwright} | × | ${devtools} | × | goal |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
${[
  sizes("\`tools/list\`, kB", "tools", "≤ 16", found),
  times("snapshot of a small page", "small", "≤ 10", found),
  times("messages of the console", "messages", "≤ 10", found),
  sizes(`snapshot of a table of ${ROWS} rows, kB`, "tableBytes", "≤ 20", found),
  times("the same", "table", "≤ 400", found),
  times("a text found in it (chrome-devtools-mcp has no tool for it: the whole snapshot)", "find", "≤ 300", found),
  times("a click", "click", "× ≥ 1", found),
  times("hovering", "hover", "× ≥ 1", found),
  times("typing a text", "type", "× ≥ 0.5", found),
  times("choosing in a list", "select", "× ≥ 0.5", found),
  times("a key", "key", "× ≥ 0.5", found),
  times("ten fields filled and sent, two calls", "form", "≤ 500", found),
].join("\n")}
`;
  } finally {
    for (const { mcp } of all) await mcp.end();
  }
}

const inChromium = inBrowsers.find(({ name }) => name === "chrome");
assert.ok(inChromium !== undefined, "HARBOR_TEST_BROWSER: only Chromium is measured");
await inChromium.run(async (world) => console.log(await report(world)), { mayUsePages: true, page: pages });
