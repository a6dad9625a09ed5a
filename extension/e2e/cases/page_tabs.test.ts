// What Harbor does for a page in the page's own tab: `agent.browser`, by the switch of the person's, their yes and the page's own origin.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Page, textOf, until } from "../driver/browser.ts";
import type { Answers } from "../driver/site.ts";
import { switchOn } from "../driver/switches.ts";
import { type World, inBrowsers } from "../driver/world.ts";

const READ = "browser:activeTab.read";
const INTERACT = "browser:activeTab.interact";

/** A page with a form, a password, and a button that counts who has clicked it. */
const PAGE = `<!doctype html><meta charset=utf-8><title>Gulls</title><button id=ask>Ask</button>
<article><h1>Gulls</h1><p>The keeper counts 47 gulls.</p></article><p style="display:none">nobody sees this</p>
<form><label>Name <input id=name></label><label>Word <input id=word type=password value=hunter-two-22></label>
<select id=island aria-label=Island><option>Ouessant<option>Sein</select></form>
<button id=count onclick="clicked(event)">Count</button><p id=said></p><div style="height:4000px"></div><p id=deep>Deep down</p><a id=go href="/went">Go</a>
<script>
  window.shown = (promise) => promise.then((value) => ({ value: value ?? null }), (error) => ({ code: error.code, message: error.message }));
  window.wish = { scopes: [] };
  ask.onclick = () => { window.asked = shown(agent.requestPermissions(wish)); };
  window.clicked = (event) => { said.textContent = "counted"; window.trusted = event.isTrusted; window.byHarbor = shown(agent.requestPermissions({ scopes: ["model:list"] })); };
</script>`;

const PICTURED = `<!doctype html><style>body { margin: 0 } iframe, input { position: fixed; left: 0; width: 200px; height: 80px; border: 0; padding: 0 }</style>
<iframe src=OTHER/red style="top:0"></iframe><iframe src=/green style="top:100px"></iframe><input type=password value=x style="top:200px; background:#f00; color:#f00">
<script>window.shown = (promise) => promise.then((value) => ({ value }), (error) => ({ code: error.code, message: error.message }));
window.pixels = async (url, ys) => {
  const bitmap = await createImageBitmap(await (await fetch(url)).blob());
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  const context = canvas.getContext("2d");
  context.drawImage(bitmap, 0, 0);
  const scale = bitmap.width / innerWidth;
  return ys.map((y) => { const [r, g, b] = context.getImageData(100 * scale, y * scale, 1, 1).data; return r > 200 && g > 200 && b > 200 ? "white" : r > 150 ? "red" : g > 150 ? "green" : "black"; });
};</script>`;

/** A page with a frame of another site, which reads "its" tab each time that it is loaded. */
const FRAMING = `<!doctype html><title>Another site</title><p>Not for the frame</p><iframe></iframe><script>
  window.again = () => new Promise((resolve) => {
    addEventListener("message", ({ data }) => resolve(data), { once: true });
    document.querySelector("iframe").src = "OTHER/framed?" + Math.random();
  });
</script>`;
const FRAMED = `<!doctype html><script>
  const reading = "agent" in window ? agent.browser.activeTab.readability() : Promise.reject({ code: "none" });
  reading.then((value) => parent.postMessage({ value }, "*"), ({ code }) => parent.postMessage({ code }, "*"));
</script>`;

const COLOURED = (colour: string) => `<!doctype html><style>html { background: ${colour}; transition: opacity 60s }</style><dialog style="background:${colour};inset:0;width:100%;height:100%">x</dialog><script>document.querySelector("dialog").showModal()</script>`;

const site: Answers = (path) => {
  if (path === "/favicon.ico") return { html: "", status: 404 };
  if (path === "/red" || path === "/green") return { html: COLOURED(path === "/red" ? "#f00" : "#0f0") };
  if (path.startsWith("/pictured")) return { html: PICTURED.replace("OTHER", decodeURIComponent(path.slice("/pictured?".length))) };
  if (path.startsWith("/framing")) return { html: FRAMING.replace("OTHER", decodeURIComponent(path.slice("/framing?".length))) };
  return { html: path.startsWith("/framed") ? FRAMED : PAGE };
};
const WITH = { page: site, mayUsePages: true };

/** What comes of a call of `agent.browser`. */
const called = (page: Page, call: string) => page.run(`return shown(agent.browser.${call})`) as Promise<{ value?: unknown; code?: string; message?: string }>;

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("a page reads itself by Harbor, once the person has switched that on and said yes", () =>
      inBrowser.run(async ({ browser, site }: World) => {
        const page = await browser.open(site.url);
        assert.equal((await called(page, "activeTab.readability()")).code, "ERR_FEATURE_DISABLED");
        await switchOn(browser, "browserInteraction");
        assert.equal((await called(page, "activeTab.readability()")).code, "ERR_SCOPE_REQUIRED");
        await page.run(`wish.scopes = ["${READ}"]`);
        await page.click("#ask");
        const consent = await browser.find("consent.html");
        assert.match(await textOf(consent, "#wish"), /wants Harbor to read its own page/);
        await consent.click("#once");
        assert.equal(((await page.run("return asked")) as { value: { scopes: { [scope: string]: string } } }).value.scopes[READ], "granted-once");
        const { value } = (await called(page, "activeTab.readability()")) as { value: { url: string; title: string; text: string } };
        assert.deepEqual([value.url, value.title], [site.url, "Gulls"]);
        assert.match(value.text, /47 gulls/);
        assert.doesNotMatch(value.text, /nobody sees|hunter/);
        assert.equal((await called(page, "activeTab.click('#count')")).code, "ERR_SCOPE_REQUIRED");
        assert.deepEqual(((await page.run("return agent.capabilities()")) as { browser: object }).browser, { readActiveTab: true, interact: false, screenshot: false, navigate: false, readTabs: false, createTabs: false });
      }, WITH));

    test("without the browser's permission what is allowed is unavailable, and the question says that the browser asks next", () =>
      inBrowser.run(async ({ browser, site, harbor }: World) => {
        await switchOn(browser, "browserInteraction");
        const page = await browser.open(site.url);
        await harbor.cli("grant", site.origin, READ, "--always");
        const { code, message } = await called(page, "activeTab.readability()");
        assert.equal(code, "ERR_SCOPE_REQUIRED");
        assert.match(message ?? "", /unavailable: the browser does not let Harbor use this site/);
        const { permissions, browser: can } = (await page.run("return agent.capabilities()")) as { permissions: { [scope: string]: string }; browser: { readActiveTab: boolean } };
        assert.deepEqual([permissions[READ], can.readActiveTab], ["unavailable", false]);
        await page.run(`wish.scopes = ["${READ}"]`);
        await page.click("#ask");
        const consent = await browser.find("consent.html");
        assert.match(await textOf(consent, ".lack"), /your browser asks next whether Harbor may read this site/);
        // In Firefox the click is taken for the yes that the browser asks for; Chromium's own window nobody clicks here.
        const isGiven = inBrowser.name === "firefox";
        await consent.click(isGiven ? "#once" : "#deny");
        const { value } = (await page.run("return asked")) as { value: { granted: boolean; scopes: { [scope: string]: string } } };
        assert.deepEqual([value.granted, value.scopes[READ]], isGiven ? [true, "granted-always"] : [false, "unavailable"]);
        assert.equal((await called(page, "activeTab.readability()")).code, isGiven ? undefined : "ERR_SCOPE_REQUIRED");
      }, { page: site }));

    test("it clicks, fills in, chooses and scrolls there, never in a secret field, and no click of it is one of the person's", () =>
      inBrowser.run(async ({ browser, site, harbor }: World) => {
        await switchOn(browser, "browserInteraction");
        const page = await browser.open(site.url);
        for (const scope of [READ, INTERACT]) await harbor.cli("grant", site.origin, scope, "--always");
        await called(page, "activeTab.click('#count')");
        assert.equal(await textOf(page, "#said"), "counted");
        assert.equal(await page.run("return trusted"), false);
        assert.equal(((await page.run("return byHarbor")) as { code: string }).code, "ERR_USER_GESTURE_REQUIRED");
        await page.run("document.querySelector('#go').target = '_blank'");
        assert.equal((await called(page, "activeTab.click('#go')")).code, "ERR_PERMISSION_DENIED", "it would open a window");
        assert.deepEqual(await called(page, "activeTab.fill('#name', 'Mol\\u00e8ne')"), { value: null });
        assert.deepEqual(await called(page, "activeTab.select('#island', 'Sein')"), { value: null });
        assert.deepEqual(await page.run("return [document.querySelector('#name').value, document.querySelector('#island').value, document.querySelector('#word').value]"), ["Mol\u00e8ne", "Sein", "hunter-two-22"]);
        assert.equal((await called(page, "activeTab.fill('#word', 'x')")).code, "ERR_PERMISSION_DENIED");
        assert.deepEqual(await called(page, "activeTab.scroll({ selector: '#deep' })"), { value: null });
        assert.equal(await page.run("return scrollY > 1000"), true);
        const { value } = (await called(page, "activeTab.getElement('#word')")) as { value: { value: string; role: string } };
        assert.deepEqual([value.value, value.role], ["(filled, not shown)", "textbox"]);
        assert.deepEqual(await called(page, "activeTab.getElement('#none')"), { value: null });
        await page.run("window.waits = shown(agent.browser.activeTab.waitForSelector('#late')); const late = document.createElement('p'); late.id = 'late'; late.textContent = 'here'; document.body.prepend(late)");
        assert.equal(((await page.run("return waits")) as { value: { text: string } }).value.text, "here");
        await page.run("window.endless = shown(agent.browser.activeTab.waitForSelector('#never'))");
        await browser.endBackgrounds(page);
        assert.equal(((await page.run("return endless")) as { code: string }).code, "ERR_BRIDGE_NOT_CONNECTED");
        await until("another background", async () => ((await called(page, "activeTab.getElement('#ask')")).value === undefined ? undefined : true));
        const codes = [];
        await page.run("window.cycle = {}; cycle.cycle = cycle");
        for (const call of ["click('#none')", "click('##')", "click(7)", "click('x'.repeat(100000))", "waitForSelector('#none', { timeout: 0 })", "waitForSelector('p', { timeout: 'soon' })", "fill('#name', cycle)", "fill('#name', () => 1)", "click(undefined, null)"]) codes.push((await called(page, `activeTab.${call}`)).code);
        assert.deepEqual(codes, ["ERR_TOOL_FAILED", "ERR_INVALID_REQUEST", "ERR_INVALID_REQUEST", "ERR_INVALID_REQUEST", "ERR_TOOL_TIMEOUT", "ERR_INVALID_REQUEST", "ERR_INVALID_REQUEST", "ERR_INVALID_REQUEST", "ERR_INVALID_REQUEST"]);
        assert.equal(await page.run(`const stop = new AbortController();
          const waits = shown(agent.browser.activeTab.waitForSelector("#never", { signal: stop.signal }));
          stop.abort(new Error("enough"));
          return (await waits).message`), "enough");
        // A frame of its site in a page of another one: the tab is not its own.
        const around = await browser.open(`${site.other}/framing?${encodeURIComponent(site.origin)}`);
        const inFrame = async () => ((await around.run("return again()")) as { code: string }).code;
        await until("the frame's API", async () => ((await inFrame()) === "none" ? undefined : true));
        assert.equal(await inFrame(), "ERR_PERMISSION_DENIED");
      }, WITH));

    test("a picture of it has neither frames of others nor secret fields, and there is none of a tab that is not shown", () =>
      inBrowser.run(async ({ browser, site, harbor }: World) => {
        await switchOn(browser, "screenshots");
        const page = await browser.open(`${site.origin}/pictured?${encodeURIComponent(site.other)}`);
        assert.equal((await called(page, "activeTab.screenshot()")).code, "ERR_SCOPE_REQUIRED");
        await harbor.cli("grant", site.origin, "browser:activeTab.screenshot", "--always");
        const { value } = await called(page, "activeTab.screenshot()");
        assert.match(value as string, /^data:image\/jpeg;base64,/);
        assert.deepEqual(await page.run(`return pixels(${JSON.stringify(value)}, [40, 140, 240, 320])`), ["black", "green", "black", "white"]);
        assert.equal(await page.run("return document.querySelector('input').style.cssText.includes('opacity')"), false, "it is as before");
        const other = await browser.open(`${site.origin}/`);
        if (inBrowser.name === "chrome") assert.equal((await called(page, "activeTab.screenshot()")).code, "ERR_TOOL_FAILED");
        await other.close();
      }, WITH));

    test("it opens tabs and uses them while they show its own origin, and learns nothing of any other", () =>
      inBrowser.run(async ({ browser, site, harbor }: World) => {
        await switchOn(browser, "browserControl");
        const page = await browser.open(site.url);
        assert.equal((await called(page, "tabs.list()")).code, "ERR_SCOPE_REQUIRED");
        for (const scope of ["browser:tabs.read", "browser:tabs.create", "browser:navigate"]) await harbor.cli("grant", site.origin, scope, "--always");
        const made = async (url: string) => ((await called(page, `tabs.create({ url: ${JSON.stringify(url)} })`)) as { value: { id: number } }).value.id;
        const id = await made(`${site.origin}/own`);
        assert.deepEqual(await called(page, `tab.waitForLoad(${id})`), { value: null });
        assert.match(((await called(page, `tab.readability(${id})`)) as { value: { text: string } }).value.text, /47 gulls/);
        assert.deepEqual(await called(page, `tab.fill(${id}, '#name', 'Sein')`), { value: null });
        assert.equal(((await called(page, `tab.getElement(${id}, '#name')`)) as { value: { value: string } }).value.value, "Sein");
        await page.run(`window.opening = shown(agent.browser.tabs.create({ url: "${site.other}/other" }))`);
        const consent = await browser.find("consent.html");
        assert.match(await textOf(consent, "#means"), /The page that asks opens it in a tab, and reads nothing there/);
        await consent.click("#once");
        const other = ((await page.run("return opening")) as { value: { id: number } }).value.id;
        await called(page, `tab.waitForLoad(${other})`);
        const { value: tabs } = (await called(page, "tabs.list()")) as { value: { id: number; opened: boolean; url?: string; title?: string }[] };
        assert.deepEqual(tabs.map(({ opened, url, title }) => [opened, url, title]), [[false, site.url, "Gulls"], [true, `${site.origin}/own`, "Gulls"], [true, undefined, undefined]]);
        const own = tabs[0]?.id ?? -1;
        const person = await browser.open(browser.harborUrl("sidebar.html"));
        const theirs = ((await person.run("return (await chrome.tabs.query({})).map(({ id }) => id)")) as number[]).find((one) => ![id, other, own].includes(one));
        const codes = [];
        for (const call of [`readability(${other})`, `click(${own}, '#count')`, `readability(${theirs})`, "readability(undefined)", "readability('1')"]) codes.push((await called(page, `tab.${call}`)).code);
        assert.deepEqual(codes, ["ERR_PERMISSION_DENIED", "ERR_PERMISSION_DENIED", "ERR_PERMISSION_DENIED", "ERR_INVALID_REQUEST", "ERR_INVALID_REQUEST"]);
        assert.equal((await called(page, `tab.navigate(${other}, '${site.origin}/back')`)).code, "ERR_PERMISSION_DENIED");
        assert.deepEqual(await called(page, `tab.navigate(${id}, '${site.origin}/on')`), { value: null });
        assert.equal(((await called(page, `tab.readability(${id})`)) as { value: { url: string } }).value.url, `${site.origin}/on`);
        await page.run(`window.going = shown(agent.browser.tab.waitForNavigation(${id}))`);
        assert.deepEqual(await called(page, `tab.click(${id}, '#go')`), { value: null });
        assert.deepEqual(await page.run("return going"), { value: null });
        assert.equal(((await called(page, `tab.readability(${id})`)) as { value: { url: string } }).value.url, `${site.origin}/went`);
        assert.equal((await called(page, `tab.waitForNavigation(${id}, { timeout: 100 })`)).code, "ERR_TOOL_TIMEOUT");
        await page.run("window.staying = shown(agent.browser.waitForNavigation())");
        assert.deepEqual(await page.run("let at = 0; const timer = setInterval(() => (location.hash = String(at += 1)), 50); const end = await staying; clearInterval(timer); return end"), { value: null });
        await page.run("history.replaceState(null, '', '/')");
        const last = await made(`${site.origin}/last`);
        for (const url of ["file:///etc/passwd", "javascript:alert(1)", "http://u:p@127.0.0.1/", "https://a.blocked.example./x", "chrome://settings", "data:text/html,x"]) {
          assert.equal((await called(page, `tab.navigate(${id}, ${JSON.stringify(url)})`)).code, "ERR_PERMISSION_DENIED", url);
        }
        // In the middle of a call its tab goes elsewhere, or is closed.
        await page.run(`window.leaves = shown(agent.browser.tab.waitForSelector(${id}, '#never')); window.ends = shown(agent.browser.tab.waitForSelector(${last}, '#never'))`);
        await called(page, `tab.navigate(${id}, '${site.other}/elsewhere')`);
        for (const one of [other, last]) assert.deepEqual(await called(page, `tabs.close(${one})`), { value: null });
        assert.deepEqual(await page.run("return [(await leaves).code, (await ends).code]"), ["ERR_PERMISSION_DENIED", "ERR_TOOL_FAILED"]);
        await called(page, `tabs.close(${id})`);
        assert.equal(((await called(page, "tabs.list()")) as { value: unknown[] }).value.length, 1);
        assert.deepEqual(await called(page, `tabs.close(${id})`).then(({ code }) => code), "ERR_PERMISSION_DENIED");
        await page.run(`void shown(agent.browser.navigate('${site.origin}/led'))`).catch(() => undefined);
        await until("its own tab to be led", async () => ((await page.run("return location.pathname").catch(() => "")) === "/led" ? true : undefined));
      }, { ...WITH, config: '[browser]\nblocked = ["*.blocked.example"]\naskFirst = ["localhost"]\n' }));
  });
}
