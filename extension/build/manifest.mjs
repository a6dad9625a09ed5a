// The manifests of both extensions for both browsers, as a function.
//
// Owns names, ids, permissions and what stands in a manifest. Must never read or write a file: the build does.

import { createHash } from "node:crypto";

/** @typedef {"harbor" | "web-agents-api"} Extension */
/** @typedef {"chrome" | "firefox"} Browser */

/** @type {Extension[]} */
export const EXTENSIONS = ["harbor", "web-agents-api"];
/** @type {Browser[]} */
export const BROWSERS = ["chrome", "firefox"];

/** The ids in Firefox. @type {Record<Extension, string>} */
export const FIREFOX_IDS = { harbor: "harbor@harbor", "web-agents-api": "web-agents-api@harbor" };

/**
 * Where pages get the API: secure contexts. The background asks again, by origin, at every call. Frames get it by scripts that are
 * registered for origins with a grant, and these addresses are all that such a script can run on.
 */
const PAGES = ["https://*/*", "http://localhost/*", "http://127.0.0.1/*"];

/** Neither inline scripts nor anything from elsewhere; frames only of our own. */
const CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'none'",
  "frame-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/**
 * The id that Chromium gives to an extension with this public key.
 * @param {string} key base64 of its DER form
 */
export function chromiumId(key) {
  const digest = createHash("sha256").update(Buffer.from(key, "base64")).digest("hex").slice(0, 32);
  return [...digest].map((digit) => String.fromCharCode(97 + Number.parseInt(digit, 16))).join("");
}

/**
 * The manifest of one build.
 * @param {Extension} extension
 * @param {Browser} browser
 * @param {{ version: string, keys: Record<Extension, string> }} facts
 * @returns {Record<string, unknown>}
 */
export function manifest(extension, browser, { version, keys }) {
  const common = {
    manifest_version: 3,
    version,
    incognito: "not_allowed",
    icons: { 48: "icon-48.png", 128: "icon-128.png" },
    content_security_policy: { extension_pages: CSP },
    ...(browser === "chrome" ? ofChrome(keys[extension]) : ofFirefox(extension)),
  };
  return extension === "harbor" ? { ...common, ...harbor(browser, keys) } : { ...common, ...webAgentsApi(browser, keys) };
}

/** @param {string} key */
function ofChrome(key) {
  // The version in which an open native port keeps the service worker, and a MAIN world can be declared.
  return { key, minimum_chrome_version: "120", background: { service_worker: "background.js", type: "module" } };
}

/** @param {Extension} extension */
function ofFirefox(extension) {
  return {
    browser_specific_settings: {
      gecko: {
        id: FIREFOX_IDS[extension],
        strict_min_version: "142.0",
        data_collection_permissions: { required: ["none"] },
      },
    },
    background: { scripts: ["background.js"], type: "module" },
  };
}

/**
 * @param {Browser} browser
 * @param {Record<Extension, string>} keys
 */
function harbor(browser, keys) {
  const panel =
    browser === "chrome"
      ? { side_panel: { default_path: "sidebar.html" } }
      : { sidebar_action: { default_title: "Harbor", default_panel: "sidebar.html", open_at_install: false } };
  return {
    name: "Harbor",
    description: "MCP servers on your own machine, isolated, for the sites that you allow.",
    // Notices tell of an answer that came while no panel was open.
    // The last three are for "Ask Harbor about this" in the menu of a page: none of them reads a page before the person has clicked there.
    permissions: ["nativeMessaging", "notifications", "storage", ...(browser === "chrome" ? ["sidePanel"] : []), "activeTab", "contextMenus", "scripting"],
    // For the browser tools: asked for when the person switches them on. `cookies`, `downloads`: when that group of theirs is. `tabs`, the names of open tabs: when they are to be listed.
    // `userScripts`: when apps may run scripts in pages.
    optional_permissions: ["cookies", "downloads", "tabGroups", "tabs", "userScripts", "webNavigation", "webRequest"],
    // Besides for reading the open page: then the one site is asked for, by the click in the panel. A click there gives no `activeTab`.
    optional_host_permissions: ["<all_urls>"],
    action: { default_title: "Harbor" },
    // On a Mac the same with Command stops loading.
    commands: { [browser === "chrome" ? "_execute_action" : "_execute_sidebar_action"]: { suggested_key: { default: "Ctrl+Period", mac: "MacCtrl+Period" } } },
    ...panel,
    ...connectable(browser, keys["web-agents-api"]),
  };
}

/**
 * Lets in the extension with this key. Firefox knows no such list, and lets every extension try: the background looks at the sender in both.
 * @param {Browser} browser
 * @param {string} key
 */
function connectable(browser, key) {
  return browser === "chrome" ? { externally_connectable: { ids: [chromiumId(key)] } } : {};
}

/**
 * @param {Browser} browser
 * @param {Record<Extension, string>} keys
 */
function webAgentsApi(browser, keys) {
  const script = { matches: PAGES, run_at: "document_start", all_frames: false, match_about_blank: false };
  return {
    name: "Web Agents API",
    description: "Gives web pages window.agent: tools of your Harbor, with your consent.",
    // Firefox tells a tab's container to nobody without `cookies`; no cookie is read or written.
    permissions: ["storage", "scripting", ...(browser === "firefox" ? ["cookies"] : [])],
    // Chromium runs registered scripts only where these are; Firefox takes the addresses of the scripts below for it.
    ...(browser === "chrome" ? { host_permissions: PAGES } : {}),
    ...connectable(browser, keys.harbor),
    // No button of its own: two that look alike have a person guess. `harbor`'s panel leads to the options.
    options_ui: { page: "options.html", open_in_tab: true },
    content_scripts: [
      // In this order: the first one waits for what the second one hands over.
      { ...script, js: ["injected.js"], world: "MAIN" },
      { ...script, js: ["content.js"], world: "ISOLATED" },
    ],
  };
}
