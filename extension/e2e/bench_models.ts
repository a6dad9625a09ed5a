// How much the extensions add to an answer of a model: the same answers read by a page, and by a program that speaks to the native host as
// the extension does. The difference is the browser's and the extensions' share.
//
//   page ─► extensions ─► native host ─► bridge ─► provider that says when it said each piece
//   this program ───────► native host ─► bridge ─► the same
//
// Owns these figures. Must never report one of an answer in which something is missing.

import assert from "node:assert/strict";
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { FIREFOX_IDS, chromiumId } from "../build/manifest.mjs";
import { type Page } from "./driver/browser.ts";
import { Harbor } from "./driver/harbor.ts";
import { modelPage, withEcho } from "./driver/models.ts";
import { PAGE, Site } from "./driver/site.ts";
import { register, start } from "./driver/world.ts";

type Name = "chrome" | "firefox";

/** As many as a site may ask within a minute, with room for the rest. */
const FIRSTS = 20;
const RATE = 200;
const FLOOD = 2_000;
const SECONDS = 2;
const LOADS = 50;

const median = (numbers: number[]): number => numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? Number.NaN;

/** The native host, asked as the extension asks it. */
class NativeHost {
  readonly #process: ChildProcessWithoutNullStreams;
  #rest = Buffer.alloc(0);
  #heard: (message: any) => void = () => undefined;
  #last = 0;

  private constructor(program: string, argument: string[], harbor: Harbor) {
    this.#process = spawn(program, argument, { env: harbor.env, stdio: ["pipe", "pipe", "pipe"] });
    this.#process.stderr.resume();
    this.#process.stdout.on("data", (bytes: Buffer) => this.#read(bytes));
  }

  static async start(name: Name, harbor: Harbor): Promise<NativeHost> {
    const { browsers } = JSON.parse(await harbor.cli("host", "status", "--json"));
    const { manifest } = browsers.find((one: { starts: string | null }) => one.starts !== null);
    const { path } = JSON.parse(await readFile(manifest, "utf8"));
    const keys = JSON.parse(await readFile(join(__ROOT__, "keys.json"), "utf8"));
    const argument = name === "chrome" ? [`chrome-extension://${chromiumId(keys.harbor)}/`] : [manifest, FIREFOX_IDS.harbor];
    const host = new NativeHost(path, argument, harbor);
    await host.ask("hello", { protocol: 1, client: "bench", chunks: true, max_frame: 1024 * 1024, browser_session: "bench" });
    return host;
  }

  /** Asks; `each` hears each text, and credit is given for it. */
  ask(type: string, fields: object, each: (text: string) => void = () => undefined): Promise<any> {
    const request_id = String(++this.#last);
    return new Promise((resolve, reject) => {
      this.#heard = (message) => {
        if (message.type === "llm_event") {
          if (message.event.type === "text") each(message.event.text);
          this.#post({ type: "llm_more", request_id: `more ${++this.#last}`, target: request_id, n: 1 });
        } else if (message.request_id === request_id) message.type === "error" ? reject(new Error(message.error.message)) : resolve(message);
      };
      this.#post({ ...fields, type, request_id });
    });
  }

  end(): Promise<unknown> {
    const ended = new Promise((resolve) => this.#process.once("exit", resolve));
    this.#process.stdin.end();
    return ended;
  }

  #post(message: object): void {
    const text = Buffer.from(JSON.stringify(message));
    const head = Buffer.alloc(4);
    head.writeUInt32LE(text.length);
    this.#process.stdin.write(Buffer.concat([head, text]));
  }

  #read(bytes: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    while (this.#rest.length >= 4 && this.#rest.length >= 4 + this.#rest.readUInt32LE()) {
      const end = 4 + this.#rest.readUInt32LE();
      const message = JSON.parse(this.#rest.subarray(4, end).toString());
      this.#rest = this.#rest.subarray(end);
      this.#heard(message);
    }
  }
}

/** When pieces were said, and how long each was on its way, in ms. Fails where one is missing. */
function delays(pieces: [string, number][], expected: number): number[] {
  const found = pieces.flatMap(([text, at]) => [...text.matchAll(/(\d+)@(\d+) /g)].map(([, number, said]) => [Number(number), at - Number(said)] as const));
  assert.deepEqual(found.map(([number]) => number), Array.from({ length: expected }, (_, at) => at));
  return found.map(([, delay]) => delay);
}

/** In the page itself: a driver's own world would be measured, too. */
const MEASURE = `${PAGE}<script>
  const clock = () => performance.timeOrigin + performance.now();
  window.firsts = async (times) => {
    const took = [];
    for (let at = 0; at < times; at += 1) {
      const s = await harbor.LanguageModel.create();
      const from = clock();
      const reader = s.promptStreaming("Hello").getReader();
      await reader.read();
      took.push(clock() - from);
      while (!(await reader.read()).done);
    }
    return took;
  };
  window.pieces = async (prompt) => {
    const found = [];
    for await (const text of (await harbor.LanguageModel.create()).promptStreaming(prompt)) found.push([text, Date.now()]);
    return found;
  };
</script>`;

const pageFirsts = (page: Page) => page.run(`return firsts(${FIRSTS})`) as Promise<number[]>;

const pagePieces = (page: Page, rate: number) => page.run(`return pieces("<rate ${rate} ${SECONDS}>")`) as Promise<[string, number][]>;

const clock = () => performance.timeOrigin + performance.now();

async function hostFirsts(host: NativeHost, chat: (text: string) => object): Promise<number[]> {
  const took: number[] = [];
  for (let at = 0; at < FIRSTS; at += 1) {
    const from = clock();
    let first: number | undefined;
    await host.ask("host_llm_chat", chat("Hello"), () => (first ??= clock() - from));
    took.push(first ?? Number.NaN);
  }
  return took;
}

async function hostPieces(host: NativeHost, chat: (text: string) => object, rate: number): Promise<[string, number][]> {
  const pieces: [string, number][] = [];
  await host.ask("host_llm_chat", chat(`<rate ${rate} ${SECONDS}>`), (text) => pieces.push([text, Date.now()]));
  return pieces;
}

/** How long the script in the page's world takes, compiled and run, in ms. */
async function loadTime(page: Page, script: string): Promise<number> {
  const took = (await page.run(`const took = [];
    for (let at = 0; at < ${LOADS}; at += 1) { const from = performance.now(); (0, eval)(${JSON.stringify(script)} + "//" + at); took.push(performance.now() - from); }
    return took`)) as number[];
  return median(took);
}

const ISOLATED = { "cross-origin-opener-policy": "same-origin", "cross-origin-embedder-policy": "require-corp" };

/** One line of the table. */
async function measured(name: Name): Promise<string> {
  const harbor = await Harbor.make();
  const site = await Site.start(() => ({ html: MEASURE, headers: ISOLATED }));
  await register(name, harbor);
  const browser = await start(name, harbor);
  const world = { harbor, site, browser, restart: async () => browser };
  let cells: string[] = [];
  try {
    await withEcho(world, async () => {
      const page = await modelPage(world, site.origin);
      await harbor.cli("grant", site.other, "model:prompt", "--always");
      const host = await NativeHost.start(name, harbor);
      const chat = (text: string) => ({ origin: site.other, messages: [{ role: "user", content: text }], stream: true, credit: true });
      const firsts = [median(await pageFirsts(page)), median(await hostFirsts(host, chat))] as const;
      const slow = [median(delays(await pagePieces(page, RATE), RATE * SECONDS)), median(delays(await hostPieces(host, chat, RATE), RATE * SECONDS))] as const;
      const from = clock();
      delays(await pagePieces(page, FLOOD), FLOOD * SECONDS);
      const flood = Math.round((FLOOD * SECONDS) / ((clock() - from) / 1000));
      const script = await readFile(join(__ROOT__, "dist", `web-agents-api-${name}`, "injected.js"), "utf8");
      const size = Buffer.byteLength(script);
      const share = ([page, host]: readonly [number, number]) => `${(page - host).toFixed(1)} (${page.toFixed(1)} − ${host.toFixed(1)})`;
      cells = [share(firsts), share(slow), `all of ${FLOOD * SECONDS}, ${flood} a second`, `${(size / 1000).toFixed(1)} kB`, `${(await loadTime(page, script)).toFixed(1)}`];
      await host.end();
    });
  } finally {
    await browser.close();
    await site.end();
    await harbor.end();
  }
  return `| ${name === "chrome" ? "Chromium" : "Firefox"} | ${cells.join(" | ")} |`;
}

/** The table, for these browsers. */
export async function modelFigures(names: Name[]): Promise<string> {
  const lines: string[] = [];
  for (const name of names) lines.push(await measured(name));
  return `Models: what the browser and the extensions add to an answer, p50 in ms (a page − a program at the native host); pieces at ${RATE} a second, then at ${FLOOD}.
The script in the page's world: its size minified, and how long it is compiled and run.

| browser | first piece | each piece | at ${FLOOD} a second | size | per page |
| --- | ---: | ---: | ---: | ---: | ---: |
${lines.join("\n")}
| goal | ≤ 5 | ≤ 1 | nothing lost | ≤ 40 kB | ≤ 3 |
`;
}
