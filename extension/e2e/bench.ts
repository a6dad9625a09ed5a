// How much a call of a page takes through all of Harbor, against the least that its way can cost: the same page and extensions with a
// native host that answers by itself, and the server asked directly. They take turns in the same browser.
//
//   page ─► extensions ─► harbor-bridge ─► bridge ─► runner ─► server     real
//   page ─► extensions ─► echo                                            echo
//   this program ─────────────────────────────────────────► server        direct
//
// Owns the measurement and its record, target/bench/browsers.md, from which BENCHMARKS.md is written by hand. Must never measure a call that
// failed.

import assert from "node:assert/strict";
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { chatFigures } from "./bench_chat.ts";
import { modelFigures } from "./bench_models.ts";
import { askAndAllow } from "./driver/asking.ts";
import { type Page, until } from "./driver/browser.ts";
import { Harbor, serverEntry } from "./driver/harbor.ts";
import { PAGE, Site } from "./driver/site.ts";
import { register, start } from "./driver/world.ts";

const quick = process.argv.includes("--quick");
const ROUNDS = quick ? 3 : 15;
const CALLS = quick ? 50 : 300;
const WARM = quick ? 20 : 100;
const MESSAGE = "x".repeat(100);
const EVERYTHING = ["@modelcontextprotocol/server-everything", "dist/index.js"] as const;

/** The least that a native host can be: reads a frame, writes the answer, and knows no more than the extension asks. */
const ECHO = `#!/usr/bin/env node
const { readSync, writeSync } = require("node:fs");
const exactly = (length) => {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; ) {
    const read = readSync(0, bytes, at, length - at, null);
    if (read === 0) process.exit();
    at += read;
  }
  return bytes;
};
const text = "Echo: " + ${JSON.stringify(MESSAGE)};
const MORE = {
  hello: { protocol: 1, bridge_version: "echo", build: "echo", pid: process.pid, chunks: true, max_frame: 1048576 },
  host_call_tool: { result: { content: [{ type: "text", text }] }, provenance: { server: "everything", tool: "echo" } },
};
for (;;) {
  const { type, request_id } = JSON.parse(exactly(exactly(4).readUInt32LE()).toString());
  const reply = Buffer.from(JSON.stringify({ type: type + "_result", request_id, grants: [], ...MORE[type] }));
  const head = Buffer.alloc(4);
  head.writeUInt32LE(reply.length);
  writeSync(1, Buffer.concat([head, reply]));
}
`;

type Way = "real" | "echo" | "direct";

/** The p50 of one round, in µs. */
type Round = { [way in Way]: number };

/** Puts a program in the native host's place that becomes whichever is wanted; the result has the next one be another. */
async function switchable(harbor: Harbor): Promise<(way: "real" | "echo") => Promise<void>> {
  const file = (name: string) => join(harbor.dir, name);
  const { browsers } = JSON.parse(await harbor.cli("host", "status", "--json"));
  const { manifest } = browsers.find((one: { starts: string | null }) => one.starts !== null);
  const before = JSON.parse(await readFile(manifest, "utf8"));
  await writeFile(file("echo"), ECHO);
  const launcher = `#!/bin/sh\necho $$ >'${file("pid")}'\nexec "$(cat '${file("program")}')" "$@"\n`;
  await writeFile(file("launcher"), launcher);
  for (const name of ["echo", "launcher"]) await chmod(file(name), 0o755);
  await writeFile(file("program"), before.path);
  await writeFile(manifest, JSON.stringify({ ...before, path: file("launcher") }));
  return async (way) => {
    await writeFile(file("program"), way === "real" ? before.path : file("echo"));
    const pid = Number(await readFile(file("pid"), "utf8").catch(() => ""));
    if (pid > 0) process.kill(pid);
  };
}

/** Calls of a page, one at a time; how long each took, in µs. */
async function fromPage(page: Page, calls: number): Promise<number[]> {
  return (await page.run(`
    const took = [];
    for (let call = 0; call < ${calls}; call += 1) {
      const from = performance.now();
      const { content } = await agent.tools.call({ tool: "everything/echo", args: { message: ${JSON.stringify(MESSAGE)} } });
      took.push((performance.now() - from) * 1000);
      if (content[0].text !== "Echo: " + ${JSON.stringify(MESSAGE)}) throw new Error(content[0].text);
    }
    return took;`)) as number[];
}

/** The server without anything in between. */
class Direct {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;
  #last = 0;

  constructor(program: string) {
    this.#process = spawn("node", [program], { stdio: ["pipe", "pipe", "pipe"] });
    this.#process.stderr.resume();
    this.#lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
  }

  async ask(method: string, params: object): Promise<any> {
    const id = ++this.#last;
    this.#process.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    for (;;) {
      const { value, done } = await this.#lines.next();
      if (done) throw new Error("the server has ended");
      const message = JSON.parse(value);
      if (message.id === id && message.method === undefined) return message.result;
    }
  }

  async begin(): Promise<void> {
    const clientInfo = { name: "bench", version: "1" };
    await this.ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
    this.#process.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  }

  async calls(calls: number): Promise<number[]> {
    const took: number[] = [];
    for (let call = 0; call < calls; call += 1) {
      const from = performance.now();
      const { content } = await this.ask("tools/call", { name: "echo", arguments: { message: MESSAGE } });
      took.push((performance.now() - from) * 1000);
      assert.equal(content[0].text, `Echo: ${MESSAGE}`);
    }
    return took;
  }

  async end(): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once("exit", resolve));
    this.#process.kill();
    await ended;
  }
}

const median = (numbers: number[]): number => numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? Number.NaN;

async function rounds(page: Page, direct: Direct, become: (way: "real" | "echo") => Promise<void>): Promise<Round[]> {
  const found: Round[] = [];
  const through = async (way: "real" | "echo") => {
    await become(way);
    // What was open when the host ended fails, and the next call is the other's.
    await until(way, () => fromPage(page, 1).catch(() => undefined));
    await fromPage(page, WARM);
    return median(await fromPage(page, CALLS));
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    const order: ("real" | "echo")[] = round % 2 === 0 ? ["real", "echo"] : ["echo", "real"];
    const took: Round = { real: 0, echo: 0, direct: 0 };
    for (const way of order) took[way] = await through(way);
    await direct.calls(WARM);
    took.direct = median(await direct.calls(CALLS));
    found.push(took);
  }
  return found;
}

/** Isolated from other sites, so that browsers give it a clock that is fine enough. */
const ISOLATED = { "cross-origin-opener-policy": "same-origin", "cross-origin-embedder-policy": "require-corp" };

async function measure(name: "chrome" | "firefox"): Promise<Round[]> {
  const ends: (() => Promise<unknown>)[] = [];
  try {
    const harbor = await Harbor.make("[limits]\ncallsPerMinutePerOrigin = 0\ncallsPerMinutePerServer = 0\n");
    ends.push(() => harbor.end());
    await register(name, harbor);
    await harbor.everything();
    const become = await switchable(harbor);
    const site = await Site.start(() => ({ html: PAGE, headers: ISOLATED }));
    ends.push(() => site.end());
    const direct = new Direct(serverEntry(...EVERYTHING));
    ends.push(() => direct.end());
    await direct.begin();
    const browser = await start(name, harbor);
    ends.push(() => browser.close());
    const page = await browser.open(site.url);
    await askAndAllow(browser, page, "always");
    return await rounds(page, direct, become);
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

function line(name: string, found: Round[]): string {
  const of = (way: Way) => found.map((round) => round[way]);
  const ratios = found.map(({ real, echo, direct }) => real / (echo + direct));
  const cells = (["real", "echo", "direct"] as const).map((way) => `${Math.min(...of(way)).toFixed(0)} / ${median(of(way)).toFixed(0)}`);
  const bests = Math.min(...of("real")) / (Math.min(...of("echo")) + Math.min(...of("direct")));
  return `| ${name} | ${cells.join(" | ")} | ${bests.toFixed(2)} | ${median(ratios).toFixed(2)} | ≤ 1.5 |`;
}

async function report(): Promise<string> {
  const names = (["chrome", "firefox"] as const).filter((name) => (process.env["HARBOR_TEST_BROWSER"] ?? name) === name);
  if (process.argv.includes("--models")) return modelFigures(names);
  if (process.argv.includes("--chat")) return chatFigures();
  const lines: string[] = [];
  const load = loadavg().map((one) => one.toFixed(2)).join(" ");
  for (const name of names) lines.push(line(name === "chrome" ? "Chromium" : "Firefox", await measure(name)));
  const program = `HARBOR_TEST_BIN=${process.env["HARBOR_TEST_BIN"]?.endsWith("release") ? "…/release" : "…"} npm run bench`;
  return `## Browsers

Written by \`${program}${quick ? " -- --quick" : ""}\` in \`extension\` on ${new Date().toISOString().slice(0, 16).replace("T", " ")} UTC; ${cpus()[0]?.model ?? "?"}, ${cpus().length} cores, load average before: ${load}.
\`tools.call\` of a page, one at a time, 100 B of text, ${ROUNDS} rounds of ${CALLS} calls: *real* through Harbor to a server; *echo* with a native host that answers by
itself; *direct* from node to the same server. All take turns in the same browser; extension/e2e/bench.ts tells how.

p50 in µs: the best and the median of the rounds. Ratios: real to echo and direct together, of the bests, and the median of those within each round.

| browser | real | echo | direct | × bests | × | goal |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
${lines.join("\n")}

${await modelFigures(names)}

${await chatFigures()}`;
}

const found = await report();
console.log(found);
if (process.argv.includes("--record")) {
  const directory = join(process.env["CARGO_TARGET_DIR"] ?? join(__ROOT__, "..", "target"), "bench");
  const file = join(directory, "browsers.md");
  await mkdir(directory, { recursive: true });
  await writeFile(file, `${found}\n`);
  console.error(`recorded in ${file}`);
}
