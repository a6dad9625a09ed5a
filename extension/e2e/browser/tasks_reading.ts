// Small tasks whose point is to be told: what stands in a snapshot of a page as real ones are, and what does not.
//
// Owns the pages and what has to be said of each. Must never hold a task of acting.

import assert from "node:assert/strict";
import type { Task } from "./tasks.ts";

/** Ways to hide a text from people with its place as it was; `order-` and a number are the text. */
const HIDDEN = [
  "color:transparent", "-webkit-text-fill-color:transparent", "position:absolute;clip:rect(0,0,0,0)", "clip-path:inset(100%)", "clip-path:circle(0)",
  "transform:scale(0)", "filter:opacity(0)",
];

export const READING: Task[] = [
  {
    name: "fields of every kind are told with their names, and gauges",
    page: `<label>Arrival <input type=date></label><label>At <input type=time value=10:30></label><label>Month <input type=month></label><label>Week <input type=week></label>
      <label>When <input type=datetime-local></label><label>Colour <input type=color value="#ff0000"></label><label>Photo <input type=file name=photo></label>
      <label>Disk <meter min=0 max=10 value=7>seven</meter></label><label>Upload <progress max=100 value=30>30 %</progress></label><div role=slider tabindex=0 aria-label=Volume aria-valuenow=40></div>`,
    async run(agent) {
      const { text } = await agent.do("snapshot");
      for (const [role, name] of [["textbox", "Arrival"], ["textbox", "At"], ["textbox", "Month"], ["textbox", "Week"], ["textbox", "When"], ["textbox", "Colour"], ["button", "Photo"], ["slider", "Volume"]] as const) {
        assert.match(text, new RegExp(`${role} "${name}" \\[ref=`), name);
      }
      for (const said of ['type="date"', 'type="time" value="10:30"', 'type="file"', 'meter "Disk" value="7 of 10"', 'progressbar "Upload" value="30 of 100"', 'value="40"']) assert.ok(text.includes(said), `${said}: ${text}`);
      assert.doesNotMatch(text, /seven/);
      const html = (await agent.do("read", { mode: "html" })).text;
      assert.match(html, /<input type="date"/);
      assert.match(html, /<input type="file" name="photo"/);
      assert.doesNotMatch(html, /10:30/);
      const typed = await agent.do("type", { target: await agent.ref("textbox", "Arrival"), text: "2026-12-24" });
      assert.match(typed.text, /has "2026-12-24"/);
    },
    is: "document.querySelector('input').value === '2026-12-24'",
  },
  {
    name: "what a page has made clickable has a ref and a name, in tables, lists and drawings",
    page: `<style>.hand { cursor: pointer }</style><table role=grid><tr><td role=gridcell tabindex=0 onclick="days = [...window.days ?? [], 1]">1</td><td role=gridcell tabindex=-1 onclick="days = [...window.days ?? [], 2]">2</td></tr></table>
      <ul><li class=hand onclick="item = true">Item</li></ul><table><tr class=hand onclick="row = true"><td>Ann</td><td>7 | 8</td></tr><tr><td class=hand onclick="cell = true">Cell</td><td>x</td></tr></table>
      <i class=hand aria-label=Trash onclick="trash = true">▒</i><span class=hand title=Star>★</span><a class=hand title=Prev><svg width=20 height=20><path d="M0 0h9v9z"/></svg></a>
      <svg width=200 height=100><g role=button aria-label=Norway tabindex=0 onclick="land = true"><path d="M0 0h80v80h-80z"/></g><path class=hand d="M120 0h60v60z" onclick="shape = true"><title>Chile</title></path></svg>`,
    async run(agent) {
      const { text } = await agent.do("snapshot");
      const ref = (what: string) => {
        const [, found] = new RegExp(`${what} \\[ref=(f\\d+e\\d+)\\]`).exec(text) ?? [];
        assert.ok(found !== undefined, `${what}: ${text}`);
        return found;
      };
      assert.match(text, /row: gridcell "1" \[ref=f\d+e\d+\] \| gridcell "2" \[ref=/);
      assert.match(text, /row \[ref=f\d+e\d+\] \[clickable\]: Ann \| 7 \\\| 8/);
      for (const what of ['gridcell "2"', "listitem", "row", "cell", 'clickable "Trash"', 'button "Norway"', 'clickable "Chile"']) await agent.do("click", { target: ref(what) });
      for (const what of ['clickable "Star"', 'clickable "Prev"']) ref(what);
      assert.match((await agent.do("snapshot", { filter: "interactive" })).text, /clickable "Trash"/);
    },
    is: "String(days) === '2' && item && row && cell && trash && land && shape",
  },
  {
    name: "what comes by an animation is read though nobody looks, and what is hidden is not",
    page: `<style>@keyframes f { from { opacity: 0 } to { opacity: 1 } } @keyframes s { from { transform: translateX(-3000px) } to { transform: none } } .m { animation: f .3s } .s { position: fixed; animation: s .3s } .g { background: linear-gradient(red, blue); background-clip: text; color: transparent }</style>
      <div class=m>Dialog text</div><div class=s><p>Drawer text</p></div><h1 class=g><span>Gradient text</span></h1>
      ${HIDDEN.map((style, nth) => `<div style="${style}"><p>order-${nth}</p></div>`).join("")}<details><summary>More</summary>order-details</details><div style="opacity:0"><p>order-in</p></div>
      <img alt=order-alt src="data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==" style="width:0;height:0"><svg width=0 height=0><text>order-svg</text></svg>`,
    async run(agent) {
      const readers = [["snapshot"], ["read", { mode: "text" }], ["read", { mode: "markdown" }], ["read", { mode: "html" }]] as const;
      for (const [tool, args] of readers) {
        const { text } = await agent.do(tool, args);
        for (const said of ["Dialog text", "Drawer text", "Gradient text"]) assert.ok(text.includes(said), `${tool} ${JSON.stringify(args)}: ${said}: ${text}`);
        assert.doesNotMatch(text, /order-/, `${tool} ${JSON.stringify(args)}`);
      }
    },
  },
  {
    name: "what a page says while it loads is told, and what its frames ask and say",
    page: `<script>alert("at load"); console.error("early"); throw new Error("thrown")</script><iframe title=Inner src="/asking"></iframe>`,
    async run(agent) {
      for (let time = 0; time < 5; time += 1) {
        const again = await agent.do("navigate", { type: "reload" });
        assert.match(again.text, /alert "at load" was closed/);
        const { text } = await agent.do("console_messages", { level: "error" });
        assert.match(text, /\[error\] early/);
        assert.match(text, /\[error\].*thrown/);
      }
      const ask = await agent.ref("button", "Ask");
      assert.match((await agent.do("click", { target: ask })).text, /confirm "in frame\?" was dismissed/);
      await agent.do("handle_dialog", { accept: true });
      assert.match((await agent.do("click", { target: ask })).text, /confirm "in frame\?" was accepted/);
      assert.match((await agent.do("click", { target: ask })).text, /confirm "in frame\?" was dismissed/);
      assert.match((await agent.do("console_messages")).text, /\[warn\] from the frame/);
    },
    is: "document.querySelector('iframe').contentDocument.title === 'false;true;false;'",
  },
  {
    name: "what is no page is not said to be there, and the network list is of this page",
    page: `<title>Here</title><a href="/file">Get it</a><a href="/none">Nothing</a><img src="/lost.png"><script>fetch("/data")</script>`,
    async run(agent) {
      await agent.do("wait_for", { time: 0.2 });
      const { text } = await agent.do("network_requests");
      assert.match(text, /GET \S+\/task\/\d+ => 200/);
      assert.match(text, /GET \S+\/lost\.png => 404/);
      assert.match(text, /GET \S+\/data => 200/);
      for (const [name, said] of [["Get it", /is a file/], ["Nothing", /answered 204/]] as const) {
        const clicked = await agent.do("click", { target: await agent.ref("link", name) });
        assert.match(clicked.text + (await agent.do("find", { text: name })).text, said);
      }
      for (const [path, said] of [["/file", /Not shown: it is a file.* shows the page before/], ["/none", /Not shown: the server answered 204/]] as const) {
        const given = await agent.do("navigate", { url: `${agent.site}${path}` });
        assert.match(given.text, said);
        assert.match(given.structured["page"].url, /\/task\//);
      }
      for (const url of [`${agent.site}/loop`, "http://nothing.invalid/"]) {
        const given = await agent.call("navigate", { url });
        assert.ok(given.isError && /Not shown: the page could not be loaded: /.test(given.text), given.text);
      }
      assert.match((await agent.do("navigate", { url: `${agent.site}/two` })).text, /The page is there\. HTTP status 200/);
      assert.doesNotMatch((await agent.do("network_requests", { static: true })).text, /data|lost/);
    },
    is: "document.title === 'Two'",
  },
  {
    name: "what a page says of itself for programs is read",
    page: `<script type="application/ld+json">{ "@type": "Product", "name": "Lamp", "offers": { "price": "12.50" } }</script>
      <div itemscope itemtype="https://schema.org/Recipe"><b itemprop=name>Soup</b><time itemprop=cookTime datetime=PT20M>20 minutes</time><p itemprop=author itemscope><i itemprop=name>Ann</i></p></div>`,
    async run(agent) {
      const { text } = await agent.do("read", { mode: "data" });
      for (const said of ['"price": "12.50"', '"@type": "Recipe"', '"cookTime": "PT20M"', '"name": "Ann"']) assert.ok(text.includes(said), `${said}: ${text}`);
    },
    is: "true",
  },
];
