// Chromium, driven by its DevTools protocol over a pipe: no port, no package.
//
// Owns the process and the sessions of the protocol. Must never attach to a service worker: that would keep it alive.

import { type ChildProcess, spawn } from "node:child_process";
import { openSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { chromiumId } from "../../build/manifest.mjs";
import { type Browser, LIMIT_MS, type Managed, type Page, type Start, middleOf, until } from "./browser.ts";

const FLAGS = [
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--remote-debugging-pipe",
];
/**
 * Its own sandbox is not to be had in every container; a person's browser keeps it, except with root, where it refuses to start. The last lets the
 * pipe remove an extension, which no person's browser needs.
 */
const UNSEEN = [
  "--headless=new",
  "--no-sandbox",
  "--disable-gpu",
  "--enable-unsafe-extension-debugging",
  // The address bar's lists, which nobody opens here: drawn in advance, they take more than half of a start's processor time.
  "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup",
];
const SHOWN = process.getuid?.() === 0 ? ["--no-sandbox"] : [];

/** What keys do besides having a name. */
const KEYS = {
  Escape: {},
  Enter: { windowsVirtualKeyCode: 13, text: "\r" },
  Tab: { windowsVirtualKeyCode: 9 },
};

type Result = { [name: string]: any };

/** The protocol: commands with ids, events aside. */
class Pipe {
  readonly #to: Writable;
  readonly #open = new Map<number, { session: string | undefined; resolve(result: Result): void; reject(error: Error): void }>();
  /** The worlds of pages that have asked for them, by session. */
  readonly worlds = new Map<string, Result[]>();
  #rest = "";
  #last = 0;

  constructor(process: ChildProcess) {
    this.#to = process.stdio[3] as Writable;
    const from = process.stdio[4] as Readable;
    from.setEncoding("utf8").on("data", (text: string) => this.#read(text));
    this.#to.on("error", () => undefined);
    process.once("exit", () => {
      for (const { reject } of this.#open.values()) reject(new Error("Chromium has ended"));
    });
  }

  send(method: string, params: Result = {}, sessionId?: string): Promise<Result> {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${method} took ${LIMIT_MS} ms`)), LIMIT_MS);
      const done = () => (clearTimeout(timer), this.#open.delete(id));
      this.#open.set(id, {
        session: sessionId,
        resolve: (result) => (done(), resolve(result)),
        reject: (error) => (done(), reject(error)),
      });
      this.#to.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
  }

  #detached(session: string): void {
    for (const open of this.#open.values()) if (open.session === session) open.reject(new Gone("the page has closed"));
  }

  #read(text: string): void {
    const messages = (this.#rest + text).split("\0");
    this.#rest = messages.pop() ?? "";
    for (const message of messages.map((one) => JSON.parse(one) as Result)) {
      if (message["method"] === "Target.detachedFromTarget") this.#detached(message["params"].sessionId);
      if (message["method"] === "Inspector.targetCrashed") this.#detached(message["sessionId"]);
      if (message["method"] === "Runtime.executionContextCreated") this.worlds.get(message["sessionId"])?.push(message["params"].context);
      const open = this.#open.get(message["id"]);
      if (message["error"]) open?.reject(new Error(message["error"].message));
      else open?.resolve(message["result"]);
    }
  }
}

/** The page has closed: whatever was asked of it is not answered any more. */
class Gone extends Error {}

export class ChromiumPage implements Page {
  readonly #pipe: Pipe;
  readonly #target: string;
  readonly #session: string;

  constructor(pipe: Pipe, target: string, session: string) {
    this.#pipe = pipe;
    this.#target = target;
    this.#session = session;
  }

  #send(method: string, params: Result = {}): Promise<Result> {
    return this.#pipe.send(method, params, this.#session);
  }

  /** Its size and theme, and what else the person has told their system: `forced-colors`, `prefers-reduced-motion`. */
  async look(width: number, height: number, theme: "light" | "dark", told: { [feature: string]: string } = {}): Promise<void> {
    await this.#send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
    await this.#send("Emulation.setScrollbarsHidden", { hidden: true });
    await this.#send("Emulation.setEmulatedMedia", { features: Object.entries({ "prefers-color-scheme": theme, ...told }).map(([name, value]) => ({ name, value })) });
  }

  /** So many of the screen's pixels to one of the page's; its size stays. */
  async ratio(deviceScaleFactor: number): Promise<void> {
    await this.#send("Emulation.setDeviceMetricsOverride", { width: 0, height: 0, deviceScaleFactor, mobile: false });
  }

  /** Ends the process that draws it; when it returns that has happened. */
  async crash(): Promise<void> {
    await this.#send("Inspector.enable");
    await this.#send("Page.crash").catch((error) => {
      if (!(error instanceof Gone)) throw error;
    });
  }

  /** The bytes of its objects, after those that nothing needs are gone. */
  async heap(): Promise<number> {
    await this.#send("HeapProfiler.collectGarbage");
    return (await this.#send("Runtime.getHeapUsage"))["usedSize"] as number;
  }

  /** What a person sees of it without scrolling. */
  async view(): Promise<Buffer> {
    return Buffer.from((await this.#send("Page.captureScreenshot"))["data"], "base64");
  }

  async run(source: string): Promise<unknown> {
    const expression = `(async () => {${source}})()`;
    const reply = await this.#send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    const thrown = reply["exceptionDetails"];
    if (thrown) throw new Error(thrown.exception?.description ?? thrown.text);
    return reply["result"].value;
  }

  /** Runs `source` where content scripts of an extension run in this page, as whoever has taken over the page's process could. */
  async runInWorldOf(extension: string, source: string): Promise<unknown> {
    this.#pipe.worlds.set(this.#session, []);
    // Worlds are told of before the answer.
    await this.#send("Runtime.enable");
    const world = this.#pipe.worlds.get(this.#session)?.find(({ origin }) => origin === extension);
    // They are told of again where that is asked for anew.
    await this.#send("Runtime.disable");
    if (world === undefined) throw new Error(`${extension} has no world here`);
    const expression = `(async () => {${source}})()`;
    const reply = await this.#send("Runtime.evaluate", { expression, contextId: world["id"], awaitPromise: true, returnByValue: true });
    if (reply["exceptionDetails"]) throw new Error(reply["exceptionDetails"].exception?.description);
    return reply["result"].value;
  }

  async click(selector: string): Promise<void> {
    let before: Result | null = null;
    // What moves while the page fills is clicked once it stands: twice at the same place.
    const at = await until(selector, async () => {
      const [last, now] = [before, (await this.run(middleOf(selector))) as Result | null];
      before = now;
      return now !== null && now["x"] === last?.["x"] && now["y"] === last?.["y"] ? now : undefined;
    });
    await this.#clickAt(at, 1);
  }

  async clickAt(x: number, y: number): Promise<void> {
    await this.#clickAt({ x, y }, 1);
  }

  async doubleClick(selector: string): Promise<void> {
    const at = (await this.run(middleOf(selector, true))) as Result | null;
    if (at === null) throw new Error(`there is no ${selector}`);
    await Promise.all([this.#clickAt(at, 1), this.#clickAt(at, 2)]);
  }

  async #clickAt({ x, y }: Result, clickCount: number): Promise<void> {
    const events = ["mousePressed", "mouseReleased"].map((type) => ({ type, x, y, button: "left", clickCount }));
    await Promise.all(events.map((event) => this.#input("Input.dispatchMouseEvent", event)));
  }

  async leaveAndReturn(): Promise<void> {
    const { windowId } = await this.#send("Browser.getWindowForTarget");
    // Without a display each window has the focus, unless it is minimized.
    for (const windowState of ["minimized", "normal"]) await this.#send("Browser.setWindowBounds", { windowId, bounds: { windowState } });
  }

  async press(key: keyof typeof KEYS): Promise<void> {
    for (const type of ["keyDown", "keyUp"]) await this.#input("Input.dispatchKeyEvent", { type, key, code: key, ...KEYS[key] });
  }

  /** What a click or a key does may be to close the page. */
  async #input(method: string, params: Result): Promise<void> {
    await this.#send(method, params).catch((error) => {
      if (!(error instanceof Gone) && !/Session with given id not found/.test(String(error))) throw error;
    });
  }

  async goto(url: string): Promise<void> {
    await this.#send("Page.navigate", { url });
    await this.loaded(url);
  }

  async loaded(url: string): Promise<void> {
    await this.comesTo(url, `location.href.startsWith(${JSON.stringify(url)}) && document.readyState === "complete"`);
  }

  /** Waits until an expression is true in it, which may be on its way from one document to another. */
  async comesTo(what: string, condition: string): Promise<void> {
    await until(what, async () => (await this.run(`return ${condition}`).catch(() => false)) || undefined);
  }

  async endWorkers(): Promise<void> {
    await this.#send("ServiceWorker.enable");
    await this.#send("ServiceWorker.stopAllWorkers");
    await this.#send("ServiceWorker.disable");
  }

  async screenshot(): Promise<Buffer> {
    const { cssContentSize } = await this.#send("Page.getLayoutMetrics");
    const clip = { ...cssContentSize, scale: 1 };
    return Buffer.from((await this.#send("Page.captureScreenshot", { captureBeyondViewport: true, clip }))["data"], "base64");
  }

  async close(): Promise<void> {
    await this.#pipe.send("Target.closeTarget", { targetId: this.#target });
  }
}

class Chromium implements Browser {
  readonly name = "chrome";
  readonly #pipe: Pipe;
  readonly #keys: { [extension: string]: string };
  readonly ended: Promise<void>;

  constructor(process: ChildProcess, keys: { [extension: string]: string }) {
    this.ended = new Promise((resolve) => void process.once("exit", () => resolve()));
    this.#pipe = new Pipe(process);
    this.#keys = keys;
  }

  async open(url: string): Promise<Page> {
    const { targetId } = await this.#pipe.send("Target.createTarget", { url });
    const page = await this.#attach(targetId);
    await page.loaded(url);
    return page;
  }

  async find(part: string): Promise<Page> {
    const [target] = await until(part, async () => {
      const found = await this.#targets(part);
      return found.length > 0 ? found : undefined;
    });
    const page = await this.#attach(target?.["targetId"]);
    // A target has its address before its page is there.
    await page.comesTo(part, `location.href.includes(${JSON.stringify(part)})`);
    return page;
  }

  async count(part: string): Promise<number> {
    return (await this.#targets(part)).length;
  }

  harborUrl(file: string): string {
    return `chrome-extension://${chromiumId(this.#keys["harbor"] ?? "")}/${file}`;
  }

  apiUrl(file: string): string {
    return `chrome-extension://${chromiumId(this.#keys["web-agents-api"] ?? "")}/${file}`;
  }

  async endBackgrounds(page: Page): Promise<void> {
    const workers = async () => (await this.#targets("chrome-extension://", "service_worker")).map((one) => one["targetId"]);
    // Else this would wait for what has happened already.
    const before = await until("the backgrounds to be there", async () => {
      const found = await workers();
      return found.length > 0 ? found : undefined;
    });
    await (page as ChromiumPage).endWorkers();
    // A page that waits for one has it started again at once.
    await until("the backgrounds to end", async () => !(await workers()).some((one) => before.includes(one)) || undefined);
  }

  async manage(what: Managed, which: "harbor" | "web-agents-api" = "harbor"): Promise<void> {
    const id = chromiumId(this.#keys[which] ?? "");
    if (what === "remove") {
      await this.#pipe.send("Extensions.uninstall", { id });
      return;
    }
    const page = await this.open("chrome://extensions/");
    const calls = { reload: "developerPrivate.reload(id)", scripts: "developerPrivate.updateExtensionConfiguration({ extensionId: id, userScriptsAccess: true })" };
    const call = what === "reload" || what === "scripts" ? calls[what] : `management.setEnabled(id, ${what === "enable"})`;
    // As with whoever loads unpacked extensions: else one that is loaded again stays switched off.
    const mode = "developerPrivate.updateProfileConfiguration({ inDeveloperMode: true })";
    await page.run(`const id = "${id}"; await chrome.${mode}; await chrome.${call}`);
    await page.close();
  }

  async close(): Promise<void> {
    await this.#pipe.send("Browser.close").catch(() => undefined);
    await this.ended;
  }

  async #targets(part: string, type = "page"): Promise<Result[]> {
    const { targetInfos } = await this.#pipe.send("Target.getTargets");
    return targetInfos.filter((info: Result) => info["type"] === type && info["url"].includes(part));
  }

  async #attach(targetId: string): Promise<ChromiumPage> {
    const { sessionId } = await this.#pipe.send("Target.attachToTarget", { targetId, flatten: true });
    return new ChromiumPage(this.#pipe, targetId, sessionId);
  }
}

export async function startChromium({ profile, env, extensions, log, shown, switches = [] }: Start): Promise<Browser> {
  const keys = JSON.parse(await readFile(join(__ROOT__, "keys.json"), "utf8"));
  const args = [...FLAGS, ...(shown ? SHOWN : UNSEEN), ...switches, `--user-data-dir=${profile}`, `--load-extension=${extensions.join(",")}`];
  const stderr = openSync(log, "a");
  const process = spawn("chromium", args, { env, stdio: ["ignore", "ignore", stderr, "pipe", "pipe"] });
  return new Chromium(process, keys);
}
