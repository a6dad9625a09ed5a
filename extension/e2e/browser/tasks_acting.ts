// Small tasks whose point is what a page gets: events, values and states as a hand causes them.
//
// Owns the pages and what has to have come of each task. Must never hold a task of reading.

import assert from "node:assert/strict";
import { until } from "../driver/browser.ts";
import { EDITORS_PAGE } from "./editors.ts";
import type { Task } from "./tasks.ts";

const LOG = "<p id=out role=status></p><script>const say = (text) => { document.querySelector('#out').textContent += text + ';'; };</script>";

const WAY_BACK: Omit<Task, "name"> = {
  page: `<title>First</title><a href="/two">Second page</a><button onclick="out.textContent = 'counted ' + (window.hits = (window.hits ?? 0) + 1)">Count</button><p id=out></p><iframe title=Inner src="/frame"></iframe>`,
  async run(agent) {
    const [before, inner] = [await agent.ref("button", "Count"), await agent.ref("button", "Frame button")];
    await agent.do("click", { target: before });
    await agent.do("click", { target: await agent.ref("link", "Second page") });
    const second = await agent.ref("heading", "Second page");
    const stale = await agent.call("click", { target: before });
    assert.ok(stale.isError && /another (tab or )?document/.test(stale.text), stale.text);
    const at = Date.now();
    await agent.do("navigate_back");
    await agent.do("click", { target: await agent.ref("button", "Count") });
    await agent.do("wait_for", { text: "counted" });
    // A browser may load the frame anew, after the page.
    const again = () => agent.ref("button", "Frame button");
    await agent.do("click", { target: await again().catch(again).catch(again) });
    assert.ok(Date.now() - at < 5_000, `${Date.now() - at} ms`);
    for (const target of [second, inner]) {
      const { isError, text } = await agent.call("hover", { target });
      assert.ok(!isError || /another (tab or )?document/.test(text), text);
    }
    await agent.do("navigate", { type: "forward" });
    await agent.ref("heading", "Second page");
    await agent.do("navigate_back");
  },
  is: "window.hits >= 1 && document.querySelector('iframe').contentDocument.body.dataset.pressed === 'yes'",
};

export const ACTING: Task[] = [
  {
    name: "a ref whose element was made into another thing is refused",
    page: `<ul><li><button onclick="window.did = this.textContent">Keep Ann</button></li></ul><span style="cursor:pointer" onclick="window.did = this.textContent">Row Ann</span><a href="/ann">Open</a>
      <button onclick="this.textContent = this.textContent === 'Mute' ? 'Unmute' : 'Mute'; window.times = (window.times ?? 0) + 1">Mute</button><label><b>Email</b> <input onblur="this.previousSibling.textContent = ' is not valid'"></label><input aria-label=Other>
      <p hidden></p><button onclick="document.querySelector('button').textContent = 'Delete Bob'; document.querySelector('span').textContent = 'Row Bob'; document.querySelector('a').setAttribute('href', '/bob')">Change</button>`,
    async run(agent) {
      const [ann, mute, email] = [await agent.ref("button", "Keep Ann"), await agent.ref("button", "Mute"), await agent.ref("textbox", "Email")];
      const [row, link] = [await agent.ref("clickable"), await agent.ref("link", "Open")];
      // What an answer has told is known; a label that says what is wrong is the same label.
      for (let time = 0; time < 2; time += 1) await agent.do("click", { target: mute });
      await agent.do("click", { target: email });
      await agent.do("click", { target: await agent.ref("textbox", "Other") });
      await agent.do("type", { target: email, text: "a@b.example" });
      await agent.do("click", { target: ann });
      await agent.do("click", { target: await agent.ref("button", "Change") });
      for (const [target, said] of [[ann, /was button "Keep Ann" and is button "Delete Bob" now/], [row, /was clickable "Row Ann" and is clickable "Row Bob"/], [link, /to \/ann and is link "Open" to \/bob/]] as const) {
        const refused = await agent.call("click", { target });
        assert.ok(refused.isError && said.test(refused.text), refused.text);
      }
      await agent.do("click", { target: await agent.ref("button", "Delete Bob") });
    },
    is: "window.did === 'Delete Bob' && window.times === 2 && document.querySelector('input').value === 'a@b.example'",
  },
  {
    name: "after the way back refs work at once, and those of the page before are stale",
    ...WAY_BACK,
  },
  {
    name: "so do they where the browser may keep nothing of the page",
    ...WAY_BACK,
    headers: { "cache-control": "no-store" },
    is: "document.title === 'First'",
  },
  {
    name: "the page is told of the focus, and of what was entered, though nobody looks",
    page: `${LOG}<input id=a aria-label=One onfocus="say('F')" onblur="say('B')" onchange="say('C ' + value)"><input id=b aria-label=Two onfocus="say('F2')"><div role=button tabindex=0 onfocusin="say('in')" onfocusout="say('out')">Three</div><p style="height:40px">Nothing</p>`,
    async run(agent) {
      await agent.do("click", { target: "#a" });
      await agent.do("press_key", { key: "x" });
      await agent.do("type", { target: "#b", text: "y" });
      await agent.do("press_key", { key: "Tab" });
      await agent.do("click", { target: "p:nth-of-type(2)" });
    },
    is: "document.querySelector('#out').textContent === 'F;C x;B;F2;in;out;'",
  },
  {
    name: "keys move the caret, the choice and the value",
    page: `${LOG}<input id=text value="one two"><textarea id=area>first\nsecond</textarea><input id=range type=range min=0 max=10 value=5 onchange="say(value)"><input id=number type=number value=1 onchange="say(value)">
      <select id=list onchange="say(value)"><option>a</option><option disabled>b</option><option>c</option></select><label><input type=radio name=r id=r1 checked>R1</label><label><input type=radio name=r id=r2 onclick="say('r2')">R2</label>
      <div id=editor contenteditable>word</div><dialog id=top><button id=inside>Inside</button></dialog>`,
    async run(agent) {
      const keys = async (target: string, ...all: string[]) => {
        await agent.do("click", { target });
        for (const key of all) await agent.do("press_key", { key });
      };
      await keys("#text", "Home", "ArrowRight", "Shift+End", "X", "Control+ArrowLeft", "Y");
      await keys("#area", "Control+End", "ArrowUp", "Home", "Z", "Control+Backspace", "W");
      for (const [target, ...all] of [["#range", "ArrowRight", "PageUp", "End", "ArrowLeft"], ["#number", "ArrowUp"], ["#list", "ArrowDown"]] as const) await keys(target, ...all);
      await keys("#r1", "ArrowDown");
      await keys("#editor", "Home", "A", "End", "B");
      const unknown = await agent.do("press_key", { key: "Control+P" });
      assert.match(unknown.text, /what the browser itself would do at this key was not done/);
    },
    is: `text.value === 'YoX' && area.value === 'Wfirst\\nsecond' && document.querySelector('#out').textContent === '6;7;10;9;2;c;r2;' && r2.checked && editor.textContent === 'AwordB'`,
  },
  {
    name: "a field behind a drawn one is set, and what a page refuses is not",
    page: `<div style="position:relative"><select id=list aria-label=Size style="position:absolute;clip:rect(0 0 0 0);width:1px;height:1px" onchange="window.size = value"><option>S</option><option>L</option><option disabled>XL</option></select><div style="position:absolute;inset:0;height:20px">drawn</div></div>
      <div style="position:relative;height:30px"><input type=checkbox id=box aria-label=News><div style="position:absolute;inset:0;background:#ccc"></div></div>
      <input id=short aria-label=Short maxlength=3><input id=digits aria-label=Digits onbeforeinput="if (/\\D/.test(event.data ?? '')) event.preventDefault()">`,
    async run(agent) {
      await agent.do("select_option", { target: await agent.ref("combobox", "Size"), values: ["L"] });
      const refused = await agent.call("select_option", { target: "#list", values: ["XL"] });
      assert.ok(refused.isError && /option "XL".* is disabled/.test(refused.text), refused.text);
      await agent.do("fill_form", { fields: [{ target: "#box", name: "News", type: "checkbox", value: "true" }] });
      assert.match((await agent.do("type", { target: "#short", text: "abcdef" })).text, /NOT as wanted.*has "abc"/);
      assert.match((await agent.do("type", { target: "#digits", text: "abc" })).text, /NOT as wanted.*has ""/);
      await agent.do("type", { target: "#digits", text: "12" });
    },
    is: "window.size === 'L' && list.value === 'L' && box.checked && short.value === 'abc' && digits.value === '12'",
  },
  {
    name: "what a page sets back is looked at again",
    page: `${[0, 50, 300].map((ms) => `<select id=s${ms} aria-label=Size onchange="setTimeout(() => { this.value = 'S' }, ${ms})"><option>S</option><option>L</option></select>`).join("")}
      <select id=sf onchange="fetch('/two').then((answer) => answer.text()).then(() => { this.value = 'S' })"><option>S</option><option>L</option></select><input type=checkbox id=box aria-label=News onchange="setTimeout(() => { this.checked = false }, 20)">`,
    async run(agent) {
      for (const target of ["#s0", "#s50", "#sf"]) assert.match((await agent.do("select_option", { target, values: ["L"] })).text, /NOT as wanted.*has "S" chosen/, target);
      assert.match((await agent.do("fill_form", { fields: [{ target: "#box", name: "News", type: "checkbox", value: "true" }] })).text, /NOT as wanted.*is not ticked/);
      assert.match((await agent.do("select_option", { target: "#s300", values: ["L"] })).text, /has "L" chosen/);
      // Chromium runs the timers of a hidden tab once a second.
      for (let time = 0; time < 20; time += 1) if (/NOT as it was: combobox "Size".* had "L" and has "S" now/.test((await agent.do("wait_for", { time: 0.1 })).text + (await agent.do("find", { text: "Size" })).text)) return;
      assert.fail("it was not told");
    },
  },
  {
    name: "text is selected by dragging, pressing twice and keys",
    page: `<p id=p style="font:20px monospace;margin:0;width:max-content">alpha beta gamma</p><script>document.addEventListener("selectionchange", () => { const text = String(getSelection()); if (text) window.last = text; });</script><i id=end style="display:inline-block;width:300px">end</i>`,
    async run(agent) {
      assert.match((await agent.do("click", { target: "#p", doubleClick: true })).text, /selected: "beta"/);
      assert.match((await agent.do("drag", { startTarget: "#p", endTarget: "#end" })).text, /selected: "/);
      assert.match((await agent.do("press_key", { key: "Control+a" })).text, /selected: "alpha beta gamma/);
    },
    is: "String(getSelection()).includes('alpha beta gamma')",
  },
  {
    name: "slate, lexical, prosemirror and ckeditor take text, and have what they show",
    page: EDITORS_PAGE,
    async run(agent) {
      for (const name of ["Slate", "Lexical", "ProseMirror", "CKEditor"]) {
        const target = await agent.ref("textbox", name);
        const { text } = await agent.do("type", { target, text: "two\nlines 😀" });
        assert.doesNotMatch(text, /NOT as wanted/, name);
        for (const key of ["Control+End", "a", "b", "Backspace", "!"]) await agent.do("press_key", { key });
      }
    },
    is: "[...models(), ...shown()].every((text) => text === 'two\\nlines 😀a!')",
  },
  {
    name: "in front an element is marked before it is used; pictures are taken in a row, and the page stays where it was",
    page: `<button onmousedown="window.ahead = performance.now() - window.markedAt">Press</button><div style="height:150vh">Middle</div><script>
      new MutationObserver((records) => { for (const { addedNodes } of records) for (const node of addedNodes) if (node.style?.pointerEvents === "none") window.markedAt = performance.now(); }).observe(document.documentElement, { childList: true });</script>`,
    async run(agent) {
      await agent.do("tabs", { action: "select", background: false });
      await agent.do("click", { target: "button" });
      await agent.do("scroll", { amount: 100 });
      for (let time = 0; time < 3; time += 1) assert.equal((await agent.do("take_screenshot", { type: "jpeg" })).images.length, 1);
      assert.equal((await agent.do("take_screenshot", { fullPage: true, type: "jpeg" })).images.length, 1);
    },
    is: "scrollY === 100 && window.ahead >= 140 && document.querySelector('html > div') === null",
  },
  {
    name: "a link is opened beside with the middle button, and an area of a picture is clicked",
    page: `<a href="/two" onauxclick="window.aux = event.button">Second page</a> <a href="/lost" onauxclick="event.preventDefault()">Kept</a>
      <img alt=Map width=200 height=100 usemap="#places" src="data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"><map name=places>
      <area shape=rect coords="0,0,100,100" href="#west" alt=West><area shape=poly coords="100,0,200,0,200,100" href="#east" alt=East onclick="window.at = event.clientX - document.images[0].getBoundingClientRect().x"></map>`,
    async run(agent) {
      const current = async () => (await agent.do("tabs", { action: "list" })).structured["page"]?.tab_id;
      const before = await current();
      const opened = await agent.do("click", { target: await agent.ref("link", "Second page"), button: "middle" });
      const [, tab] = /\/two was opened in tab (\d+), behind this one/.exec(opened.text) ?? [];
      assert.ok(tab !== undefined, opened.text);
      // A tab that has just been opened shows an empty page, which no tool may use, until its own is there.
      await until("the page behind", async () => !(await agent.call("wait_for", { text: "Second page", tabId: Number(tab) })).isError || undefined);
      assert.doesNotMatch((await agent.do("click", { target: await agent.ref("link", "Kept"), button: "middle" })).text, /was opened/);
      assert.equal(await current(), before);
      await agent.do("close", { tabId: Number(tab) });
      await agent.do("click", { target: await agent.ref("link", "East") });
    },
    is: "window.aux === 1 && location.hash === '#east' && window.at > 150",
  },
  {
    name: "a window's size is told as it is for the page",
    page: "<p>Sized</p>",
    async run(agent) {
      await agent.do("tabs", { action: "new", url: `${agent.site}/two` });
      await agent.do("resize", { width: 900, height: 700 });
      const { text } = await agent.do("resize", { width: 700, height: 600 });
      assert.match(text, /The window is 700×600 pixels\./);
      assert.match(text, /This tab is not shown in it/);
      const both = await agent.call("take_screenshot", { fullPage: true, target: "h1" });
      assert.ok(both.isError && /not of both/.test(both.text), both.text);
      await agent.do("resize", { width: 900, height: 700 });
      await agent.do("close");
    },
  },
];
