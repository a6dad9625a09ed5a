// Small tasks in pages, as an AI client does them by the browser's tools; each is checked by another way than those.
//
// Owns the pages and what has to have come of each task. Must never look at what the tools say to find out whether a task is done,
// except where what they say is the task.

import assert from "node:assert/strict";
import type { Given } from "../driver/mcp_client.ts";
import { FRAMEWORKS, frameworkPage } from "./frameworks.ts";
import { ACTING } from "./tasks_acting.ts";
import { READING } from "./tasks_reading.ts";

/** What a task is done with. */
export interface Agent {
  call(tool: string, args?: object): Promise<Given>;
  /** The same, and it has to work. */
  do(tool: string, args?: object): Promise<Given>;
  /** The ref of what has this role and name in a new snapshot of the page. */
  ref(role: string, name?: string): Promise<string>;
  site: string;
}

export interface Task {
  name: string;
  /** The body of the page. */
  page: string;
  headers?: { [name: string]: string };
  run(agent: Agent): Promise<void>;
  /** In the page, when the task is done: an expression that has to be true. */
  is?: string;
  /** Where a browser cannot do it, and why. */
  not?: { firefox?: string; chrome?: string };
}

const LOG = "<p id=out role=status></p><script>const say = (text) => { document.querySelector('#out').textContent += text + ';'; };</script>";

const click = (role: string, name: string, more: object = {}) => async (agent: Agent) => {
  await agent.do("click", { target: await agent.ref(role, name), ...more });
};

export const TASKS: Task[] = [
  ...FRAMEWORKS.map((framework): Task => ({
    name: `a form of ${framework} is filled, sent, and filled again`,
    page: frameworkPage(framework),
    async run(agent) {
      await agent.do("type", { target: await agent.ref("textbox", "Name"), text: "Ann" });
      await agent.do("select_option", { target: await agent.ref("combobox", "Size"), values: ["Large"] });
      await click("checkbox", "News")(agent);
      await click("button", "Send")(agent);
      const fields = [
        { target: await agent.ref("textbox", "Name"), name: "Name", type: "textbox", value: "Bea" },
        { target: await agent.ref("combobox", "Size"), name: "Size", type: "combobox", value: "Small" },
        { target: await agent.ref("checkbox", "News"), name: "News", type: "checkbox", value: "false" },
      ];
      await agent.do("fill_form", { fields });
      await agent.do("type", { target: await agent.ref("textbox", "Name"), text: "Cleo", submit: true });
    },
    is: "[...document.querySelectorAll('li')].map((line) => line.textContent).join(' ') === 'Ann,l,true Cleo,s,false' && document.querySelector('input').value === ''",
  })),
  {
    name: "a map on a canvas is dragged, and its marker clicked",
    page: `<canvas width=300 height=200 tabindex=0 aria-label=Map></canvas>
      <script>const map = document.querySelector("canvas"), marker = { x: 60, y: 100 }; let from, moved;
        const draw = () => { const pen = map.getContext("2d"); pen.clearRect(0, 0, 300, 200); pen.fillRect(marker.x - 12, marker.y - 12, 24, 24); }; draw();
        map.onpointerdown = (event) => { from = { x: event.clientX - marker.x, y: event.clientY - marker.y }; moved = false; };
        onpointermove = (event) => { if (!from) return; moved = true; marker.x = event.clientX - from.x; marker.y = event.clientY - from.y; draw(); };
        onpointerup = () => { from = undefined; };
        map.onclick = (event) => { if (!moved && Math.hypot(event.offsetX - marker.x, event.offsetY - marker.y) < 20) window.found = true; };</script>`,
    async run(agent) {
      await agent.do("drag", { startTarget: "canvas", startPosition: { x: 60, y: 100 }, endTarget: "canvas", endPosition: { x: 200, y: 40 } });
      await agent.do("click", { target: "canvas", position: { x: 200, y: 40 } });
    },
    is: "window.found === true",
  },
  {
    name: "a form is filled and sent",
    page: `<form onsubmit="event.preventDefault(); window.sent = Object.fromEntries(new FormData(this))"><label>Name <input name=name></label>
      <label>Size <select name=size><option value=s>Small</option><option value=l>Large</option></select></label>
      <label><input type=checkbox name=news> News</label><label><input type=radio name=pay value=card> Card</label><label><input type=radio name=pay value=cash> Cash</label>
      <label>Notes <textarea name=notes></textarea></label><button>Send</button></form>`,
    async run(agent) {
      const fields = [
        { target: await agent.ref("textbox", "Name"), name: "Name", type: "textbox", value: "Ann" },
        { target: await agent.ref("combobox", "Size"), name: "Size", type: "combobox", value: "Large" },
        { target: await agent.ref("checkbox", "News"), name: "News", type: "checkbox", value: "true" },
        { target: await agent.ref("radio", "Cash"), name: "Cash", type: "radio", value: "true" },
        { target: await agent.ref("textbox", "Notes"), name: "Notes", type: "textbox", value: "two\nlines" },
      ];
      const { text } = await agent.do("fill_form", { fields, snapshot: true });
      assert.equal(text.match(/button "Send"/g)?.length, 1, text);
      await click("button", "Send")(agent);
    },
    is: `JSON.stringify(window.sent) === JSON.stringify({ name: "Ann", size: "l", news: "on", pay: "cash", notes: "two\\r\\nlines" }) || window.sent?.notes === "two\\nlines" && window.sent.pay === "cash" && window.sent.size === "l"`,
  },
  {
    name: "what covers a button is named, closed, and then the button is clicked",
    page: `${LOG}<button onclick="say('bought')">Buy</button><div role=dialog aria-label=Cookies style="position:fixed;inset:0;background:#0008"><button onclick="this.parentNode.remove()">Accept</button></div>`,
    async run(agent) {
      const buy = await agent.ref("button", "Buy");
      const refused = await agent.call("click", { target: buy });
      assert.ok(refused.isError, refused.text);
      assert.match(refused.text, /covered by (dialog "Cookies"|button "Accept")/);
      await click("button", "Accept")(agent);
      await agent.do("click", { target: buy });
    },
    is: "document.querySelector('#out').textContent === 'bought;'",
  },
  {
    name: "a question of the page is answered with yes",
    page: `${LOG}<button onclick="say(confirm('Delete all?'))">Delete</button>`,
    async run(agent) {
      const button = await agent.ref("button", "Delete");
      assert.match((await agent.do("click", { target: button })).text, /confirm "Delete all\?" was dismissed/);
      await agent.do("handle_dialog", { accept: true });
      assert.match((await agent.do("click", { target: button })).text, /was accepted/);
    },
    is: "document.querySelector('#out').textContent === 'false;true;'",
  },
  {
    name: "a text that the page asks for is given",
    page: `${LOG}<button onclick="say(prompt('Your name?'))">Ask</button>`,
    async run(agent) {
      await agent.do("handle_dialog", { accept: true, promptText: "Bea" });
      await click("button", "Ask")(agent);
    },
    is: "document.querySelector('#out').textContent === 'Bea;'",
  },
  {
    name: "a dialog that comes again and again stops nothing",
    page: `<button onclick="for (let i = 0; i < 50; i++) alert(i); window.over = true">Loop</button>`,
    run: click("button", "Loop"),
    is: "window.over === true",
  },
  {
    name: "a button in a frame is pressed",
    page: `<iframe title=Inner srcdoc="<button onclick='parent.pressed = true'>In the frame</button>"></iframe><iframe title=Other src="/frame"></iframe>`,
    async run(agent) {
      await agent.do("wait_for", { load: true });
      await click("button", "Frame button")(agent);
    },
    is: "document.querySelectorAll('iframe')[1].contentDocument.body.dataset.pressed === 'yes'",
  },
  {
    name: "a button in a closed shadow root is pressed",
    page: `<div id=host></div><script>const root = document.querySelector('#host').attachShadow({ mode: 'closed' }); const button = document.createElement('button'); button.textContent = 'Hidden away'; button.onclick = () => { window.pressed = true; }; root.append(button);</script>`,
    run: click("button", "Hidden away"),
    is: "window.pressed === true",
  },
  {
    name: "a field in an open shadow root is filled",
    page: `<x-field></x-field><script>customElements.define('x-field', class extends HTMLElement { connectedCallback() { const label = document.createElement('label'); label.append('Inside ', document.createElement('input')); this.attachShadow({ mode: 'open' }).append(label); } });</script>`,
    async run(agent) {
      await agent.do("type", { target: await agent.ref("textbox", "Inside"), text: "here" });
    },
    is: "document.querySelector('x-field').shadowRoot.querySelector('input').value === 'here'",
  },
  {
    name: "a row of a long table is found, and its link followed",
    page: `<table>${Array.from({ length: 500 }, (_, row) => `<tr><td>${row}</td><td>Name ${row}</td><td><a href="/row/${row}">open ${row}</a></td></tr>`).join("")}</table>`,
    async run(agent) {
      const { text } = await agent.do("find", { text: "Name 444" });
      const ref = /link "open 444" \[ref=(f\d+e\d+)\]/.exec(text)?.[1];
      await agent.do("click", { target: ref });
    },
    is: "location.pathname === '/row/444'",
  },
  {
    name: "an article is read as Markdown",
    page: `<nav><a href="/x">Menu</a></nav><article><h1>Title</h1>${"<p>A long paragraph about <b>ships</b> and the sea, which goes on for a while.</p>".repeat(20)}<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table></article>`,
    async run(agent) {
      const { text } = await agent.do("read", { mode: "markdown" });
      assert.match(text, /\*\*ships\*\*/);
      assert.match(text, /\| A \| B \|\n\| --- \| --- \|\n\| 1 \| 2 \|/);
    },
  },
  {
    name: "a table is read as a table",
    page: `<table><caption>Prices</caption><tr><th>Fruit</th><th>Price</th></tr><tr><td>Pear | green</td><td>2</td></tr></table>`,
    async run(agent) {
      const { text } = await agent.do("read", { mode: "tables" });
      assert.ok(text.includes("Prices\n\n| Fruit | Price |\n| --- | --- |\n| Pear \\| green | 2 |"), text);
    },
  },
  {
    name: "a date is entered",
    page: `<label>Day <input type=date></label>`,
    async run(agent) {
      await agent.do("fill_form", { fields: [{ target: await agent.ref("textbox", "Day").catch(() => "input"), name: "Day", type: "textbox", value: "2026-12-24" }] });
    },
    is: "document.querySelector('input').value === '2026-12-24'",
  },
  {
    name: "a slider is moved",
    page: `${LOG}<label>Volume <input type=range min=0 max=10 value=2 oninput="say('in ' + value)" onchange="say('done ' + value)"></label>`,
    async run(agent) {
      await agent.do("fill_form", { fields: [{ target: await agent.ref("slider", "Volume"), name: "Volume", type: "slider", value: "7" }] });
    },
    is: "document.querySelector('#out').textContent === 'in 7;done 7;'",
  },
  {
    name: "an editor is written into",
    page: `<div contenteditable aria-label=Editor style="min-height:3em">old words</div>`,
    async run(agent) {
      await agent.do("type", { target: await agent.ref("textbox", "Editor"), text: "new words" });
    },
    is: "document.querySelector('div').textContent === 'new words'",
  },
  {
    name: "a search is sent with Enter",
    page: `<form role=search onsubmit="event.preventDefault(); window.query = this.q.value"><input type=search name=q aria-label=Query></form>`,
    async run(agent) {
      await agent.do("type", { target: await agent.ref("searchbox", "Query"), text: "ships", submit: true });
    },
    is: "window.query === 'ships'",
  },
  {
    name: "keys are pressed where the focus is",
    page: `${LOG}<input id=one aria-label=One><input id=two aria-label=Two onkeydown="if (event.key === 'ArrowDown') say('down')">`,
    async run(agent) {
      await agent.do("click", { target: await agent.ref("textbox", "One") });
      await agent.do("press_key", { key: "Tab" });
      await agent.do("press_key", { key: "ArrowDown", repeat: 2 });
      await agent.do("press_key", { key: "x" });
    },
    is: "document.querySelector('#out').textContent === 'down;down;' && document.querySelector('#two').value === 'x'",
  },
  {
    name: "text is typed key by key where a page wants that",
    page: `${LOG}<input aria-label=Code onkeydown="say(event.key)">`,
    async run(agent) {
      await agent.do("type", { target: await agent.ref("textbox", "Code"), text: "abc", slowly: true });
    },
    is: "document.querySelector('#out').textContent === 'a;b;c;' && document.querySelector('input').value === 'abc'",
  },
  {
    name: "a menu opens under the pointer",
    page: `<div onmouseenter="this.querySelector('ul').hidden = false"><button>Menu</button><ul hidden><li><button onclick="window.chosen = true">First</button></li></ul></div>`,
    async run(agent) {
      await agent.do("hover", { target: await agent.ref("button", "Menu") });
      await click("button", "First")(agent);
    },
    is: "window.chosen === true",
  },
  {
    name: "something is clicked twice",
    page: `${LOG}<button ondblclick="say('double')" onclick="say('single')">Twice</button>`,
    run: click("button", "Twice", { doubleClick: true }),
    is: "document.querySelector('#out').textContent === 'single;single;double;'",
  },
  {
    name: "the menu of the right button opens",
    page: `${LOG}<button oncontextmenu="event.preventDefault(); say('menu')">Right</button>`,
    run: click("button", "Right", { button: "right" }),
    is: "document.querySelector('#out').textContent === 'menu;'",
  },
  {
    name: "modifiers are held",
    page: `${LOG}<button onclick="say([event.shiftKey, event.ctrlKey].join())">Keys</button>`,
    run: click("button", "Keys", { modifiers: ["Shift", "Control"] }),
    is: "document.querySelector('#out').textContent === 'true,true;'",
  },
  {
    name: "a card is dragged with the mouse",
    page: `<div id=card role=button tabindex=0 aria-label=Card style="position:absolute;left:20px;top:80px;width:60px;height:60px;background:#ace"></div><div id=goal role=button tabindex=0 aria-label=Goal style="position:absolute;left:300px;top:80px;width:60px;height:60px;background:#cea"></div>
      <script>let held = false; document.querySelector('#card').onmousedown = () => { held = true; }; document.onmousemove = (event) => { if (held) window.at = event.clientX; }; document.onmouseup = () => { if (held && window.at > 300) window.dropped = true; held = false; };</script>`,
    async run(agent) {
      await agent.do("drag", { startTarget: await agent.ref("button", "Card"), endTarget: await agent.ref("button", "Goal") });
    },
    is: "window.dropped === true",
  },
  {
    name: "something draggable is dropped",
    page: `<div draggable=true role=button aria-label=Thing ondragstart="event.dataTransfer.setData('text/plain', 'cargo')">Thing</div><div role=button aria-label=Box ondragover="event.preventDefault()" ondrop="window.cargo = event.dataTransfer.getData('text/plain')">Box</div>`,
    async run(agent) {
      await agent.do("drag", { startTarget: await agent.ref("button", "Thing"), endTarget: await agent.ref("button", "Box") });
    },
    is: "window.cargo === 'cargo'",
  },
  {
    name: "an endless list is scrolled until something comes",
    page: `<ul id=list></ul><script>let last = 0; const more = () => { for (let n = 0; n < 30; n++) { const item = document.createElement('li'); item.textContent = 'Item ' + ++last; document.querySelector('#list').append(item); } }; more(); more(); document.onscroll = () => { if (innerHeight + scrollY > document.body.scrollHeight - 50) more(); };</script>`,
    async run(agent) {
      for (let time = 0; time < 10; time += 1) {
        if ((await agent.call("find", { text: "Item 130" })).text.includes("Item 130")) return;
        await agent.do("scroll", { to: "bottom" });
      }
    },
    is: "document.body.innerText.includes('Item 130')",
  },
  {
    name: "a text that comes later is waited for",
    page: `<p id=out></p><button onclick="setTimeout(() => { out.textContent = 'Ready now'; }, 300)">Start</button>`,
    async run(agent) {
      await click("button", "Start")(agent);
      await agent.do("wait_for", { text: "Ready now", timeout: 10 });
    },
    is: "out.textContent === 'Ready now'",
  },
  {
    name: "the end of a text is waited for",
    page: `<p id=out>Loading</p><button onclick="setTimeout(() => out.remove(), 300)">Start</button>`,
    async run(agent) {
      await click("button", "Start")(agent);
      await agent.do("wait_for", { textGone: "Loading", timeout: 10 });
    },
    is: "document.querySelector('#out') === null",
  },
  {
    name: "a link is followed, and the way back taken",
    page: `<title>First</title><a href="/two">Second page</a>`,
    async run(agent) {
      await click("link", "Second page")(agent);
      assert.match((await agent.do("snapshot")).text, /heading "Second page"/);
      await agent.do("navigate_back");
    },
    is: "document.title === 'First'",
  },
  {
    name: "what went wrong in the page is read",
    page: `<button onclick="console.error('broken', { code: 7 }); nothing.here()">Break</button>`,
    async run(agent) {
      await click("button", "Break")(agent);
      const { text } = await agent.do("console_messages", { level: "error" });
      assert.match(text, /\[error\] broken \{"code":7\}/);
      assert.match(text, /\[error\].*nothing is not defined/);
    },
  },
  {
    name: "the requests of a page are listed",
    page: `<button onclick="fetch('/data?x=1').then((answer) => { window.status_ = answer.status; })">Fetch</button>`,
    async run(agent) {
      await click("button", "Fetch")(agent);
      await agent.do("wait_for", { time: 0.2 });
      const { text } = await agent.do("network_requests", { filter: "data" });
      const index = /(\d+): GET \S+\/data\?x=1 => 200/.exec(text)?.[1];
      assert.match((await agent.do("network_request", { index: Number(index) })).text, /status: 200/);
      assert.match((await agent.do("network_request", { index: Number(index) })).text, /bodies are not kept.*status: 200/s);
    },
    is: "window.status_ === 200",
  },
  {
    name: "what has changed since a snapshot is told alone",
    page: `<p>Always here</p><button onclick="out.textContent = 'brand new'">Change</button><p id=out role=status>old</p>`,
    async run(agent) {
      const { text } = await agent.do("snapshot");
      const since = /number is (\d+)/.exec(text)?.[1];
      const [, target] = /button "Change" \[ref=(f\d+e\d+)\]/.exec(text) ?? [];
      await agent.do("click", { target });
      const changed = await agent.do("snapshot", { since });
      assert.match(changed.text, /What has changed since.*\+ .*brand new/s);
      assert.doesNotMatch(changed.text, /Always here/);
      assert.match((await agent.do("snapshot", { since })).text, /is no longer kept.*Always here/s);
    },
    is: "out.textContent === 'brand new'",
  },
  {
    name: "a switch is turned on",
    page: `<div role=switch aria-checked=false tabindex=0 onclick="this.setAttribute('aria-checked', 'true')">Night</div>`,
    run: click("switch", "Night"),
    is: "document.querySelector('[role=switch]').getAttribute('aria-checked') === 'true'",
  },
  {
    name: "a list of a page's own is opened and used",
    page: `<button aria-haspopup=listbox aria-expanded=false onclick="list.hidden = false; this.setAttribute('aria-expanded', 'true')">Colour</button><ul id=list role=listbox hidden><li role=option onclick="window.colour = 'red'">Red</li><li role=option onclick="window.colour = 'blue'">Blue</li></ul>`,
    async run(agent) {
      await click("button", "Colour")(agent);
      await click("option", "Blue")(agent);
    },
    is: "window.colour === 'blue'",
  },
  {
    name: "where elements are is told with them",
    page: `<button style="position:absolute;left:40px;top:60px;width:120px;height:30px">Here</button><iframe title=Inner srcdoc="<button style='position:absolute;left:5px;top:7px;width:80px;height:20px'>Inside</button>"></iframe>`,
    async run(agent) {
      const { text } = await agent.do("snapshot", { boxes: true });
      assert.match(text, /button "Here" \[ref=f\d+e\d+\] \[box=40,60,120,30\]/);
      assert.match(text, /button "Inside" \[ref=f\d+e\d+\] \[box=5,7,80,20\]/);
    },
  },
  {
    name: "details are opened",
    page: `<details><summary>More</summary><button onclick="window.inside = true">Inside</button></details>`,
    async run(agent) {
      await agent.do("click", { target: "summary" });
      await click("button", "Inside")(agent);
    },
    is: "window.inside === true",
  },
  {
    name: "several options are chosen",
    page: `<select multiple aria-label=Days><option>Mon</option><option>Tue</option><option>Wed</option></select>`,
    async run(agent) {
      await agent.do("select_option", { target: await agent.ref("listbox", "Days"), values: ["Mon", "Wed"] });
    },
    is: "[...document.querySelector('select').selectedOptions].map((one) => one.text).join() === 'Mon,Wed'",
  },
  {
    name: "a button that is disabled is not clicked, and said to be",
    page: `<button disabled onclick="window.clicked = true">Later</button>`,
    async run(agent) {
      const refused = await agent.call("click", { target: await agent.ref("button", "Later") });
      assert.ok(refused.isError && /is disabled/.test(refused.text), refused.text);
    },
    is: "window.clicked === undefined",
  },
  {
    name: "a password is typed and never told",
    page: `<label>Password <input type=password value=hunter2></label><button onclick="document.querySelector('input').type = 'text'">Show</button>`,
    async run(agent) {
      const before = await agent.do("snapshot");
      const typed = await agent.do("type", { target: await agent.ref("textbox", "Password"), text: "correct horse" });
      await click("button", "Show")(agent);
      const after = await agent.do("snapshot");
      const read = await agent.do("read", { mode: "html" });
      for (const { text, structured } of [before, typed, after, read]) assert.doesNotMatch(text + JSON.stringify(structured), /hunter2|correct horse/);
    },
    is: "document.querySelector('input').value === 'correct horse'",
  },
  {
    name: "an element that was drawn anew is found again",
    page: `<div id=box><button>Save</button></div><script>const draw = () => { const made = document.createElement('button'); made.textContent = 'Save'; made.onclick = () => { window.saved = true; }; box.replaceChildren(made); }; draw(); setInterval(draw, 300);</script>`,
    async run(agent) {
      const target = await agent.ref("button", "Save");
      await agent.do("wait_for", { time: 0.7 });
      await agent.do("click", { target });
    },
    is: "window.saved === true",
  },
  {
    name: "an element that is gone is said to be, with its neighbours",
    page: `<div id=box><button>Old</button></div><button onclick="box.remove()">Remove</button>`,
    async run(agent) {
      const target = await agent.ref("button", "Old");
      await click("button", "Remove")(agent);
      const refused = await agent.call("click", { target });
      assert.ok(refused.isError && /no longer in the page.*Nearest: button "Remove"/s.test(refused.text), refused.text);
    },
  },
  {
    name: "text that nobody can see is not read",
    page: `<p>Plain</p><p style="opacity:0">order-opacity</p><p style="position:absolute;left:-9999px">order-offscreen</p><p style="font-size:0">order-size</p><p style="color:#fff;background-color:#fff">order-white</p><p aria-hidden=true>order-aria</p><p style="visibility:hidden">order-visibility</p><p style="clip-path:inset(50%);width:1px;height:1px;overflow:hidden;position:absolute">order-clip</p>`,
    async run(agent) {
      const readers = [["snapshot"], ["read", { mode: "text" }], ["read", { mode: "markdown" }], ["read", { mode: "html" }], ["find", { text: "order" }]] as const;
      for (const [tool, args] of readers) assert.doesNotMatch((await agent.call(tool, args)).text, /order-/, tool);
      assert.match((await agent.do("snapshot")).text, /Plain/);
    },
  },
  {
    name: "what a page's script turns back is told",
    page: `<input aria-label=Fixed oninput="this.value = 'mine'">`,
    async run(agent) {
      const { text } = await agent.do("type", { target: await agent.ref("textbox", "Fixed"), text: "yours" });
      assert.match(text, /NOT as wanted.*"mine"/);
    },
    is: "document.querySelector('input').value === 'mine'",
  },
  {
    name: "an action that loads the same address again is told as done",
    page: `<form method=post onsubmit="sessionStorage.sent = Number(sessionStorage.sent ?? 0) + 1"><button>Save</button></form><button onclick="location.reload()">Again</button><a href="">Here</a>
      <script>sessionStorage.loads = Number(sessionStorage.loads ?? 0) + 1</script>`,
    async run(agent) {
      // The form last: Firefox asks before it loads again what was sent.
      for (const [role, name] of [["button", "Again"], ["link", "Here"], ["button", "Save"]] as const) await click(role, name)(agent);
    },
    is: "sessionStorage.sent === '1' && sessionStorage.loads === '4'",
  },
  {
    name: "what a list has scrolled away is clicked there",
    page: `<div style="height:100px;overflow:auto"><div style="height:300px">Above</div><button onclick="window.hit = true">Deep</button></div>`,
    run: click("button", "Deep"),
    is: "window.hit === true",
  },
  {
    name: "a page that goes by the numbers of keys takes them",
    page: `${LOG}<input aria-label=Tag onkeydown="say('down ' + event.keyCode)" onkeypress="say('press ' + event.charCode)" onkeyup="say('up ' + event.which)">`,
    async run(agent) {
      await agent.do("type", { target: await agent.ref("textbox", "Tag"), text: "x", submit: true });
      await agent.do("press_key", { key: "a" });
    },
    is: "document.querySelector('#out').textContent === 'down 13;press 13;up 13;down 65;press 97;up 65;'",
  },
  {
    name: "a page of 100,000 nodes is read within its bound",
    page: `<div id=all></div><script>const all = document.querySelector('#all'); for (let n = 0; n < 33400; n++) { const p = document.createElement('p'); p.append(document.createElement('i')); p.firstChild.textContent = 'line ' + n; all.append(p); }</script>`,
    async run(agent) {
      const { text } = await agent.do("snapshot");
      assert.ok(text.length < 21_000, String(text.length));
      assert.match(text, /more lines/);
    },
  },
  ...READING,
  ...ACTING,
];
