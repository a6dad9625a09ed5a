// Firefox, driven by Marionette: frames `LENGTH:[0, id, command, parameters]` over a port that it chose.
//
// Owns the process and that connection. Commands go one after the other, since the window that they are for is a state of Firefox.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, openSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { type Socket, connect } from "node:net";
import { join } from "node:path";
import { FIREFOX_IDS } from "../../build/manifest.mjs";
import { type Browser, LIMIT_MS, type Managed, type Page, type Start, middleOf, until } from "./browser.ts";

/** Addresses of the extensions' pages, which Firefox would draw by lot. */
const HARBOR_UUID = "11111111-2222-4333-8444-555555555555";
const API_UUID = "11111111-2222-4333-8444-666666666666";
const UUIDS = JSON.stringify({
  [FIREFOX_IDS.harbor]: HARBOR_UUID,
  [FIREFOX_IDS["web-agents-api"]]: API_UUID,
});

const PREFS: { [name: string]: string | number | boolean } = {
  // The browser takes a person's click for their yes; without a click it refuses as ever. Its window is not for tests to click.
  "extensions.webextOptionalPermissionPrompts": false,
  "marionette.port": 0,
  "privacy.userContext.enabled": true,
  "extensions.webextensions.uuids": UUIDS,
  "browser.shell.checkDefaultBrowser": false,
  "browser.startup.homepage_override.mstone": "ignore",
  "datareporting.policy.dataSubmissionEnabled": false,
  "browser.tabs.warnOnClose": false,
  "app.update.enabled": false,
  "network.captive-portal-service.enabled": false,
  "network.connectivity-service.enabled": false,
  "devtools.console.stdout.content": true,
};

/**
 * Without a display Firefox has nothing that shows notices, and forgets each at once. This stands where the system's would: it shows
 * nothing and lets all stand, so that the browser itself knows which ones do.
 */
const ALERTS = `
  const alerts = {
    QueryInterface: ChromeUtils.generateQI(["nsIAlertsService"]),
    showAlert: (alert, listener) => listener?.observe(null, "alertshow", alert.cookie),
    closeAlert() {},
    teardown() {},
    async getHistory() { return []; },
  };
  const factory = { QueryInterface: ChromeUtils.generateQI(["nsIFactory"]), createInstance: (iid) => alerts.QueryInterface(iid) };
  const { nsIComponentRegistrar } = Components.interfaces;
  const registrar = Components.manager.QueryInterface(nsIComponentRegistrar);
  registrar.registerFactory(Services.uuid.generateUUID(), "alerts that nobody sees", "@mozilla.org/alerts-service;1", factory);
`;

/** How long it may take to end, in milliseconds. */
const QUIT_MS = 10_000;

/** The key of an element in WebDriver's answers. */
const ELEMENT = "element-6066-11e4-a52e-4f735466cecf";
const KEYS = { Escape: "\uE00C", Enter: "\uE007", Tab: "\uE004" };

type Result = { [name: string]: any };

class Marionette {
  readonly #socket: Socket;
  readonly #open = new Map<number, { resolve(result: Result): void; reject(error: Error): void }>();
  #rest = Buffer.alloc(0);
  #turn: Promise<unknown> = Promise.resolve();
  #last = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (bytes) => this.#read(bytes));
    socket.on("error", () => undefined);
    socket.on("close", () => {
      for (const { reject } of this.#open.values()) reject(new Error("Firefox has ended"));
    });
  }

  /** Commands that belong together, with nobody else's between them. */
  together<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }

  send(command: string, parameters: Result = {}): Promise<Result> {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${command} took ${LIMIT_MS} ms`)), LIMIT_MS);
      const done = () => (clearTimeout(timer), this.#open.delete(id));
      this.#open.set(id, {
        resolve: (result) => (done(), resolve(result)),
        reject: (error) => (done(), reject(error)),
      });
      const text = JSON.stringify([0, id, command, parameters]);
      this.#socket.write(`${Buffer.byteLength(text)}:${text}`);
    });
  }

  end(): void {
    this.#socket.destroy();
  }

  #read(bytes: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    for (;;) {
      const colon = this.#rest.indexOf(":");
      const length = Number(this.#rest.subarray(0, Math.max(colon, 0)).toString());
      if (colon < 0 || this.#rest.length < colon + 1 + length) return;
      const message = JSON.parse(this.#rest.subarray(colon + 1, colon + 1 + length).toString());
      this.#rest = this.#rest.subarray(colon + 1 + length);
      if (Array.isArray(message)) this.#answered(message[1], message[2], message[3]);
    }
  }

  #answered(id: number, error: Result | null, result: Result): void {
    const open = this.#open.get(id);
    if (error) open?.reject(new Error(`${error["error"]}: ${error["message"]}`));
    else open?.resolve(result ?? {});
  }
}

/** What a click or a key does may be to close the page. */
function unlessClosed(error: unknown): void {
  if (!/no such window/.test(String(error))) throw error;
}

class FirefoxPage implements Page {
  readonly #marionette: Marionette;
  readonly #handle: string;

  constructor(marionette: Marionette, handle: string) {
    this.#marionette = marionette;
    this.#handle = handle;
  }

  #here<T>(work: (send: Marionette["send"]) => Promise<T>): Promise<T> {
    const { together, send } = this.#marionette;
    return together.call(this.#marionette, async () => {
      await send.call(this.#marionette, "WebDriver:SwitchToWindow", { handle: this.#handle, focus: false });
      return work(send.bind(this.#marionette));
    }) as Promise<T>;
  }

  async run(source: string): Promise<unknown> {
    // Compiled by Firefox itself, with the page's window as its globals: pages of extensions allow no eval.
    const script = `
      const done = arguments[arguments.length - 1];
      (async () => JSON.stringify([await (async () => {${source}})()]))()
        .then((json) => done({ json }), (error) => done({ thrown: String(error) }));
    `;
    const { value } = await this.#here((send) => send("WebDriver:ExecuteAsyncScript", { script, args: [], sandbox: null }));
    if (value.thrown !== undefined) throw new Error(value.thrown);
    return JSON.parse(value.json)[0];
  }

  async click(selector: string): Promise<void> {
    await until(selector, () =>
      this.#here(async (send) => {
        try {
          const { value } = await send("WebDriver:FindElement", { using: "css selector", value: selector });
          const id = value[ELEMENT];
          if (!(await send("WebDriver:IsElementEnabled", { id })).value) return undefined;
          await send("WebDriver:ElementClick", { id }).catch(unlessClosed);
          return true;
        } catch (error) {
          if (/no such element|stale|not interactable/.test(String(error))) return undefined;
          throw error;
        }
      }),
    );
  }

  clickAt(x: number, y: number): Promise<void> {
    return this.#press(x, y, 1);
  }

  async doubleClick(selector: string): Promise<void> {
    const at = (await this.run(middleOf(selector, true))) as Result | null;
    if (at === null) throw new Error(`there is no ${selector}`);
    await this.#press(at["x"], at["y"], 2);
  }

  async #press(x: number, y: number, times: number): Promise<void> {
    const click = ["pointerDown", "pointerUp"].map((type) => ({ type, button: 0 }));
    const move = { type: "pointerMove", x: Math.round(x), y: Math.round(y), duration: 0 };
    const actions = [move, ...Array.from({ length: times }, () => click).flat()];
    const mouse = { type: "pointer", id: "mouse", parameters: { pointerType: "mouse" }, actions };
    await this.#here((send) => send("WebDriver:PerformActions", { actions: [mouse] }).catch(unlessClosed));
  }

  async leaveAndReturn(): Promise<void> {
    await this.#here(async (send) => {
      const handles = (await send("WebDriver:GetWindowHandles")) as unknown as string[];
      const other = handles.find((handle) => handle !== this.#handle);
      for (const handle of [other, this.#handle]) await send("WebDriver:SwitchToWindow", { handle, focus: true });
    });
  }

  async press(key: keyof typeof KEYS): Promise<void> {
    const actions = ["keyDown", "keyUp"].map((type) => ({ type, value: KEYS[key] }));
    const keyboard = { type: "key", id: "keyboard", actions };
    await this.#here((send) => send("WebDriver:PerformActions", { actions: [keyboard] }).catch(unlessClosed));
  }

  async goto(url: string): Promise<void> {
    await this.#here((send) => send("WebDriver:Navigate", { url }));
  }

  async screenshot(): Promise<Buffer> {
    const { value } = await this.#here((send) => send("WebDriver:TakeScreenshot", { full: true }));
    return Buffer.from(value, "base64");
  }

  async close(): Promise<void> {
    await this.#here((send) => send("WebDriver:CloseWindow"));
  }
}

class Firefox implements Browser {
  readonly name = "firefox";
  readonly #marionette: Marionette;
  readonly #process: ChildProcess;
  readonly ended: Promise<void>;

  constructor(process: ChildProcess, marionette: Marionette) {
    this.ended = new Promise((resolve) => void process.once("exit", () => resolve()));
    this.#marionette = marionette;
    this.#process = process;
  }

  async open(url: string): Promise<Page> {
    const { together } = this.#marionette;
    const handle = await together.call(this.#marionette, async () => {
      await this.#anyWindow();
      return (await this.#marionette.send("WebDriver:NewWindow", { type: "tab", focus: true }))["handle"];
    });
    const page = new FirefoxPage(this.#marionette, handle as string);
    await page.goto(url);
    return page;
  }

  async openInContainer(url: string, container: number): Promise<Page> {
    await this.#runItself(`
      const { gBrowser } = Services.wm.getMostRecentWindow("navigator:browser");
      const triggeringPrincipal = Services.scriptSecurityManager.getSystemPrincipal();
      gBrowser.selectedTab = gBrowser.addTab(${JSON.stringify(url)}, { userContextId: ${container}, triggeringPrincipal });
    `);
    return this.find(url);
  }

  async find(part: string): Promise<Page> {
    const handle = await until(part, async () => (await this.#handles(part))[0]);
    return new FirefoxPage(this.#marionette, handle);
  }

  async count(part: string): Promise<number> {
    return (await this.#handles(part)).length;
  }

  harborUrl(file: string): string {
    return `moz-extension://${HARBOR_UUID}/${file}`;
  }

  apiUrl(file: string): string {
    return `moz-extension://${API_UUID}/${file}`;
  }

  async endBackgrounds(): Promise<void> {
    // Also one with a port to a native host, which Firefox would spare otherwise.
    await this.#runItself(`
      const ids = ${JSON.stringify(Object.values(FIREFOX_IDS))};
      const end = (id) => WebExtensionPolicy.getByID(id).extension.terminateBackground({ ignoreDevToolsAttached: true, disableResetIdleForTest: true });
      await Promise.all(ids.map(end));
    `);
  }

  async manage(what: Managed, which: "harbor" | "web-agents-api" = "harbor"): Promise<void> {
    const method = what === "remove" ? "uninstall" : what;
    await this.#runItself(`
      const { AddonManager } = ChromeUtils.importESModule("resource://gre/modules/AddonManager.sys.mjs");
      await (await AddonManager.getAddonByID("${FIREFOX_IDS[which]}")).${method}();
    `);
  }

  /** Has notices stand, as with a display. */
  letNoticesStand(): Promise<void> {
    return this.#runItself(ALERTS);
  }

  /** Runs something as the browser itself. */
  async #runItself(source: string): Promise<void> {
    const script = `
      const done = arguments[arguments.length - 1];
      (async () => {${source}})().then(() => done(true), (error) => done(String(error)));
    `;
    await this.#marionette.together(async () => {
      await this.#anyWindow();
      await this.#marionette.send("Marionette:SetContext", { value: "chrome" });
      const { value } = await this.#marionette.send("WebDriver:ExecuteAsyncScript", { script, args: [] });
      await this.#marionette.send("Marionette:SetContext", { value: "content" });
      if (value !== true) throw new Error(value);
    });
  }

  async close(): Promise<void> {
    await this.#marionette.send("Marionette:Quit", { flags: ["eForceQuit"] }).catch(() => undefined);
    // A page that is stuck may keep it from ending by itself.
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), QUIT_MS);
    await this.ended;
    clearTimeout(timer);
    this.#marionette.end();
  }

  /** The window that commands were for may be gone. */
  async #anyWindow(): Promise<string[]> {
    const handles = (await this.#marionette.send("WebDriver:GetWindowHandles")) as unknown as string[];
    await this.#marionette.send("WebDriver:SwitchToWindow", { handle: handles[0], focus: false });
    return handles;
  }

  #handles(part: string): Promise<string[]> {
    return this.#marionette.together(async () => {
      const found: string[] = [];
      for (const handle of await this.#anyWindow()) {
        try {
          await this.#marionette.send("WebDriver:SwitchToWindow", { handle, focus: false });
          const { value } = await this.#marionette.send("WebDriver:GetCurrentURL");
          if (value.includes(part)) found.push(handle);
        } catch (error) {
          // It closed while we looked.
          if (!/no such window/.test(String(error))) throw error;
        }
      }
      return found;
    });
  }
}

export async function startFirefox({ profile, env, extensions, log }: Start): Promise<Browser> {
  mkdirSync(profile, { recursive: true });
  const prefs = Object.entries(PREFS).map(([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});\n`);
  await writeFile(join(profile, "user.js"), prefs.join(""));
  const portFile = join(profile, "MarionetteActivePort");
  await rm(portFile, { force: true });
  const out = openSync(log, "a");
  const args = ["-headless", "-marionette", "-remote-allow-system-access", "-no-remote", "-profile", profile];
  const process = spawn("firefox-esr", args, { env, stdio: ["ignore", out, out] });
  try {
    const port = await until("Firefox's port", async () => Number(await readFile(portFile, "utf8").catch(() => "")) || undefined);
    const firefox = new Firefox(process, await attach(port, extensions));
    await firefox.letNoticesStand();
    return firefox;
  } catch (error) {
    // Nobody else has it to end.
    process.kill("SIGKILL");
    throw error;
  }
}

/** Begins a session and installs the extensions. */
async function attach(port: number, extensions: string[]): Promise<Marionette> {
  const socket = connect(port, "127.0.0.1");
  await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  const marionette = new Marionette(socket);
  const timeouts = { script: LIMIT_MS, pageLoad: LIMIT_MS, implicit: 0 };
  await marionette.send("WebDriver:NewSession", { capabilities: { alwaysMatch: { timeouts } } });
  for (const path of extensions) await marionette.send("Addon:Install", { path, temporary: true });
  return marionette;
}
