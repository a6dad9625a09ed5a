// The rules of this workspace, as a program; and the manifests.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { build } from "esbuild";
import { BROWSERS, EXTENSIONS, chromiumId, manifest } from "./manifest.mjs";
import { INNER, MOST, SCRIPTS, optionsOf } from "./scripts.mjs";

const ROOMS = ["build", "e2e", "harbor", "mock", "shared", "types", "web-agents-api"];
const files = ROOMS.flatMap((room) => readdirSync(join(__ROOT__, room), { recursive: true }).map((file) => `${room}/${file}`))
  .filter((file) => /\.(ts|mjs)$/.test(file))
  .map((file) => ({ file, text: readFileSync(join(__ROOT__, file), "utf8") }));
const code = files.filter(({ file }) => /^(harbor|shared|web-agents-api)\//.test(file) && !file.includes(".test."));

test("each file begins with what it owns", () => {
  for (const { file, text } of files) assert.match(text, /^\/\/ [A-Z`].+\n/, file);
});

test("five files touch the browser's API", () => {
  const touching = code.filter(({ text }) => /\b(chrome|browser)\.[a-z]/.test(text.replace(/^ *\/\/.*$/gm, "")));
  assert.deepEqual(touching.map(({ file }) => file), ["shared/browser/api.ts", "shared/browser/content.ts", "shared/browser/cookies.ts", "shared/browser/downloads.ts", "shared/browser/tabs.ts"]);
});

test("the bridge says what a tool does, and nobody here reads a server's hint about it", () => {
  for (const { file, text } of code) assert.doesNotMatch(text, /(destructive|readOnly|openWorld)Hint/, file);
});

test("no text becomes HTML or code", () => {
  for (const { file, text } of code) {
    assert.doesNotMatch(text, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|setHTML/, file);
  }
});

test("one file of the sidebar makes elements", () => {
  const making = code.filter(({ file, text }) => file.startsWith("harbor/sidebar/") && /createElement|createTextNode|append\(|textContent =/.test(text));
  assert.deepEqual(making.map(({ file }) => file), ["harbor/sidebar/dom.ts"]);
});

test("shared code imports no extension, and no extension the other", () => {
  for (const { file, text } of code) {
    const room = file.split("/")[0] ?? "";
    const others = ["harbor", "web-agents-api"].filter((other) => other !== room);
    for (const other of others) assert.doesNotMatch(text, new RegExp(`from "(\\.\\./)+${other}/`), file);
  }
});

test("the injected script uses its own copies only", () => {
  const scripts = code.filter(({ file }) => file.startsWith("web-agents-api/page/") && !file.endsWith("/builtins.ts"))
    // They have done what they do before any script of the page runs.
    .filter(({ file }) => !/\/prefer(ence|_[a-z]+)\.ts$/.test(file));
  for (const { file, text } of scripts) {
    const body = text.replace(/^ *(\/\/|\/?\*).*$/gm, "").replace(/^import [^;]*;/gm, "");
    assert.doesNotMatch(body, /\b(Object|JSON|Reflect|Promise|Map|Set|Array|String|Number|Math|Symbol|window|document|console)\b\s*[.(]/, file);
    assert.doesNotMatch(body, /\.(then|map|forEach|push|call|bind|apply|addEventListener|join|slice|includes|indexOf|replace|test|exec|filter|some|every)\(/, file);
    assert.doesNotMatch(body, /\bfor \(const .* of |\[\.\.\.|\.\.\.\w+[\])]/, file);
  }
});

test("what each page loads is small, as it is sent", async () => {
  const set = SCRIPTS["web-agents-api"].find(({ files }) => "injected" in files);
  assert.ok(set);
  const letters = "a".repeat(36);
  const define = { __VERSION__: '"0.10.0"', __BROWSER__: '"firefox"', __HARBOR_ID__: `"${letters}"`, __WEB_AGENTS_API_ID__: `"${letters}"` };
  for (const browser of BROWSERS) {
    const { outputFiles = [] } = await build({ ...optionsOf(set, browser, define), absWorkingDir: __ROOT__, outdir: "dist", write: false });
    for (const [name, most] of Object.entries(MOST)) {
      const bytes = outputFiles.find(({ path }) => basename(path) === name)?.contents.length ?? Infinity;
      assert.ok(bytes <= most, `${name} for ${browser}: ${bytes} bytes, ${most} may be`);
    }
  }
});

test("a member that is sent by another name is none that a page or a message has", () => {
  const seen = files.find(({ file }) => file === "types/index.d.ts")?.text ?? "";
  // In quotes it keeps its name: then one thing would have two.
  const quoting = code.filter(({ file }) => /^(web-agents-api\/(page|carrier|content|forms)|shared\/(protocol|ports))/.test(file) && !file.includes("/generated/"));
  for (const name of INNER) {
    assert.doesNotMatch(seen, new RegExp(`^ .*\\b${name}\\??[:(]`, "m"), name);
    for (const { file, text } of quoting) assert.ok(!text.includes(`"${name}"`), `${file}: ${name}`);
  }
});

const keys = JSON.parse(readFileSync(join(__ROOT__, "keys.json"), "utf8"));

test("ids are those that the native host lets in", () => {
  assert.equal(chromiumId(keys.harbor), "lkdfdnjebailkjbgamcenkafhihdhdpg");
  assert.equal(chromiumId(keys["web-agents-api"]), "ameepindlnjgijhmnmehbfjhkkcpfdie");
});

test("no build can do more than it has to", () => {
  for (const extension of EXTENSIONS) {
    for (const browser of BROWSERS) {
      const made = manifest(extension, browser, { version: "1", keys }) as { [name: string]: any };
      assert.equal(made["incognito"], "not_allowed");
      assert.equal(made["web_accessible_resources"], undefined);
      // Where content scripts run anyway, and with `connect-src 'none'` for nothing else.
      const hosts = extension === "web-agents-api" && browser === "chrome" ? made["content_scripts"][0].matches : undefined;
      assert.deepEqual(made["host_permissions"], hosts);
      assert.match(made["content_security_policy"].extension_pages, /connect-src 'none'/);
      const panel = [...(browser === "chrome" ? ["sidePanel"] : []), "activeTab", "contextMenus", "scripting"];
      // Without the last one Firefox tells nobody which container a tab is in. Nothing uses it for anything else: the next test.
      const wanted = extension === "harbor" ? ["nativeMessaging", "notifications", "storage", ...panel] : ["storage", "scripting", ...(browser === "firefox" ? ["cookies"] : [])];
      assert.deepEqual(made["permissions"], wanted);
      // What the person is asked for when they let AI clients use the browser, have a page read or tabs listed.
      const later = extension === "harbor" ? [["cookies", "downloads", "tabGroups", "tabs", "userScripts", "webNavigation", "webRequest"], ["<all_urls>"]] : [undefined, undefined];
      assert.deepEqual([made["optional_permissions"], made["optional_host_permissions"]], later);
      const { ids, matches } = made["externally_connectable"] ?? {};
      assert.equal(matches, undefined);
      const other = extension === "harbor" ? "web-agents-api" : "harbor";
      if (browser === "chrome") assert.deepEqual(ids, [chromiumId(keys[other])]);
      assert.doesNotMatch(made["content_security_policy"].extension_pages, /unsafe|https?:|\*/);
    }
  }
});

test("no file of web-agents-api asks for a cookie", () => {
  const own = code.filter(({ file }) => file.startsWith("web-agents-api/") || file === "shared/browser/api.ts");
  for (const { file, text } of own) assert.doesNotMatch(text, /\.cookies\b|browser\/cookies\.ts/, file);
});

test("docs/browser-tasks.md has each small task of the browser's tools", () => {
  const tasks = ["tasks", "tasks_reading", "tasks_acting", "packages"].map((name) => files.find(({ file }) => file === `e2e/browser/${name}.ts`)?.text ?? "").join("\n");
  const names = [...tasks.matchAll(/^ {4}name: ["`](.*)["`],$/gm)].map(([, name = ""]) => name.replace("${framework}", "react, vue, svelte"));
  const docs = readFileSync(join(__ROOT__, "../docs/browser-tasks.md"), "utf8");
  const rows = [...(docs.split("## Small tasks")[1] ?? "").matchAll(/^\| (.*?) \| .* \|$/gm)].map(([, task]) => task);
  assert.deepEqual(rows.slice(1), names);
});
