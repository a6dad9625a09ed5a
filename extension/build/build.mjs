// Builds both extensions for both browsers into dist/{harbor,web-agents-api}-{chrome,firefox}/.
//
// Owns which file of the source becomes which file of a build. Must never change what it reads, or leave an old file behind, or
// touch a build that is the same: a browser may have loaded it.

import { cp, mkdir, readFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build, transform } from "esbuild";
import { MOST_AT_FIRST, bytesAtFirst } from "./first_load.mjs";
import { BROWSERS, EXTENSIONS, FIREFOX_IDS, chromiumId, manifest } from "./manifest.mjs";
import { differences, membersIn, tableOf } from "./members.mjs";
import { MOCK, SCRIPTS, optionsOf, root } from "./scripts.mjs";

/** Files that are taken as they are; styles without their empty space. */
const STATIC = {
  harbor: [
    "harbor/consent/consent.html",
    "harbor/consent/consent.css",
    "harbor/sidebar/sidebar.html",
    "harbor/sidebar/parts.css",
    "harbor/sidebar/sidebar.css",
    "harbor/sidebar/places.css",
    "harbor/sidebar/talk.css",
    "harbor/sidebar/markdown.css",
    "harbor/sidebar/models.css",
    "harbor/sidebar/page.css",
    "shared/style/tokens.css",
  ],
  "web-agents-api": ["web-agents-api/options/options.html", "web-agents-api/options/options.css", "shared/style/tokens.css"],
};
const ICONS = ["shared/style/icon-48.png", "shared/style/icon-128.png"];

const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
const keys = JSON.parse(await readFile(join(root, "keys.json"), "utf8"));

/**
 * What the code is told about the build: who the other extension is.
 * @param {import("./manifest.mjs").Browser} browser
 */
function defines(browser) {
  const id = (/** @type {import("./manifest.mjs").Extension} */ name) =>
    browser === "chrome" ? chromiumId(keys[name]) : FIREFOX_IDS[name];
  return {
    __BROWSER__: JSON.stringify(browser),
    __VERSION__: JSON.stringify(version),
    __HARBOR_ID__: JSON.stringify(id("harbor")),
    __WEB_AGENTS_API_ID__: JSON.stringify(id("web-agents-api")),
  };
}

/**
 * @param {import("./manifest.mjs").Extension} extension
 * @param {import("./manifest.mjs").Browser} browser
 */
async function one(extension, browser) {
  const name = `${extension}-${browser}`;
  const [place, out] = [join(root, "dist", name), join(root, "dist", `.${name}.${process.pid}`)];
  try {
    await mkdir(out, { recursive: true });
    await make(extension, browser, out);
    if (extension === "harbor") await holdPanel(out);
    if (await isSame(out, place)) return;
    await rm(place, { recursive: true, force: true });
    await rename(out, place);
  } finally {
    await rm(out, { recursive: true, force: true });
  }
}

/**
 * The panel is to open at once.
 * @param {string} out
 */
async function holdPanel(out) {
  const bytes = await bytesAtFirst(out, "sidebar.html");
  if (bytes > MOST_AT_FIRST) throw new Error(`the panel loads ${bytes} bytes at first, more than ${MOST_AT_FIRST}: have what its first view does not need in places.ts`);
}

/**
 * Whether two directories hold the same files; a build has no directories in it.
 * @param {string} one
 * @param {string} other
 */
async function isSame(one, other) {
  const [names, others] = await Promise.all([readdir(one), readdir(other).catch(() => [])]);
  if (names.sort().join("/") !== others.sort().join("/")) return false;
  const same = names.map(async (name) => {
    const [left, right] = await Promise.all([one, other].map((directory) => readFile(join(directory, name))));
    return left?.equals(right ?? new Uint8Array()) ?? false;
  });
  return (await Promise.all(same)).every(Boolean);
}

/**
 * @param {import("./manifest.mjs").Extension} extension
 * @param {import("./manifest.mjs").Browser} browser
 * @param {string} out
 */
async function make(extension, browser, out) {
  for (const set of SCRIPTS[extension]) {
    await build({ ...optionsOf(set, browser, defines(browser)), outdir: out });
  }
  for (const file of [...STATIC[extension], ...ICONS]) {
    const to = join(out, /** @type {string} */ (file.split("/").at(-1)));
    if (file.endsWith(".css")) await writeFile(to, (await transform(await readFile(join(root, file), "utf8"), { loader: "css", minifyWhitespace: true, charset: "utf8" })).code);
    else await cp(join(root, file), to);
  }
  const text = JSON.stringify(manifest(extension, browser, { version, keys }), null, 2);
  await writeFile(join(out, "manifest.json"), `${text}\n`);
}

/** The mock, which has what the extension has: neither may have a member that `types` does not declare, or lack one. */
async function mock() {
  const { outputFiles = [] } = await build({ ...optionsOf(MOCK, "chrome", defines("chrome")), outdir: join(root, "dist", "mock"), write: false });
  const text = outputFiles[0]?.text ?? "";
  const table = tableOf(await readFile(join(root, "types", "index.d.ts"), "utf8"));
  const injected = await readFile(join(root, "dist", "web-agents-api-chrome", "injected.js"), "utf8");
  const wrong = [...differences("the extension", table, await membersIn(injected, table)), ...differences("the mock", table, await membersIn(text, table))];
  if (wrong.length > 0) throw new Error(wrong.join("\n"));
  const file = join(root, "dist", "mock", "harbor-mock.js");
  if ((await readFile(file, "utf8").catch(() => "")) === text) return;
  await mkdir(join(root, "dist", "mock"), { recursive: true });
  await writeFile(`${file}.${process.pid}`, text);
  await rename(`${file}.${process.pid}`, file);
}

await Promise.all(EXTENSIONS.flatMap((extension) => BROWSERS.map((browser) => one(extension, browser))));
await mock();
