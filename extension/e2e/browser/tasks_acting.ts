// Small tasks whose point is what a page gets: events, values and states as a hand causes them.
//
// Owns the pages and what has to have come of each task. Must never hold a task of reading.

import assert from "node:assert/strict";
import type { Task } from "./tasks.ts";

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
    page: `<title>First</title><a href="/two">Second page</a><button onclick="window.hits = (window.hits ?? 0) + 1">Count</button><iframe title=Inner src="/frame"></iframe>`,
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
  },
];
