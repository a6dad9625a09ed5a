// The browser as a tool of an AI client: MCP's official SDK, `harbor mcp`, the bridge, the extension, a page.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { KEPT } from "../../harbor/browser/page/commands.ts";
import { agentOf, allowed, client } from "../browser/clients.ts";
import { editorScripts } from "../browser/editors.ts";
import { frameworkScripts } from "../browser/frameworks.ts";
import { type Agent, TASKS, type Task } from "../browser/tasks.ts";
import { type Page, until } from "../driver/browser.ts";
import type { Given } from "../driver/mcp_client.ts";
import type { Answers } from "../driver/site.ts";
import { type World, inBrowsers } from "../driver/world.ts";

const FRAME = `<button onclick="document.body.dataset.pressed = 'yes'">Frame button</button>`;

const scripts = new Map([...(await frameworkScripts()), ...(await editorScripts())]);

/** A page for each task, by its number; and a few that tasks lead to. */
function answers(path: string): ReturnType<Answers> {
  const script = scripts.get(path);
  if (script !== undefined) return { html: script, headers: { "content-type": "text/javascript" } };
  const task = TASKS[Number(/^\/task\/(\d+)/.exec(path)?.[1])];
  if (task !== undefined) return { html: `<!doctype html><meta charset=utf-8>${task.page}`, ...(task.headers === undefined ? {} : { headers: task.headers }) };
  if (path.startsWith("/frame")) return { html: FRAME };
  if (path.startsWith("/none")) return { html: "", status: 204 };
  if (path.startsWith("/file")) return { html: "bytes", headers: { "content-type": "application/octet-stream", "content-disposition": "attachment; filename=file.bin" } };
  if (path.startsWith("/loop")) return { html: "", status: 302, headers: { location: "/loop" } };
  if (path.startsWith("/lost")) return { html: "", status: 404 };
  if (path.startsWith("/asking")) return { html: `<title></title><script>console.warn("from the frame")</script><button onclick="document.title += confirm('in frame?') + ';'">Ask</button>` };
  if (path.startsWith("/two")) return { html: "<title>Two</title><h1>Second page</h1>" };
  if (path.startsWith("/away")) return { html: "<script>location.href = 'http://blocked.localhost:1/'</script>" };
  return { html: `<!doctype html><title>Person</title><h1>${path}</h1>` };
}

const CONFIG = `[browser]\nblocked = ["blocked.localhost"]\n`;

async function doTask(world: World, agent: Agent, task: Task): Promise<void> {
  const number = TASKS.indexOf(task);
  await agent.do("navigate", { url: `${world.site.origin}/task/${number}` });
  await task.run(agent);
  if (task.is === undefined) return;
  const { structured } = await agent.do("tabs", { action: "list" });
  const url: string = structured["page"]?.url ?? "";
  const page: Page = await world.browser.find(url.replace(world.site.origin, ""));
  assert.equal(await page.run(`return Boolean(${task.is})`), true, `${task.name}: ${task.is}`);
}

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("an AI client does small tasks in tabs of its own", (t) =>
      inBrowser.run(
        async (world: World) => {
          const { browser, site } = world;
          const person = await browser.open(`${site.origin}/person`);
          const mcp = await client(world, "tasks");
          try {
            const agent = agentOf(mcp, site.origin);
            for (const task of TASKS) {
              if (task.not?.[inBrowser.name] !== undefined) continue;
              await t.test(task.name, () => doTask(world, agent, task));
            }
            // The person's page is where it was, and is none of the client's.
            assert.equal(await person.run("return location.pathname"), "/person");
            const { structured }: Given = await agent.do("tabs", { action: "list" });
            assert.ok(structured["tabs"].every(({ url }: { url: string }) => !url.endsWith("/person")), JSON.stringify(structured));
            // Nothing of the tools' stays in another page of theirs, at a host where the client is.
            const other = await browser.open(`${site.origin}/other`);
            await until("the page as it is", async () => ((await other.run(`return ${JSON.stringify(KEPT)} in window || !/native code/.test(String(alert))`)) === false ? true : undefined));
          } finally {
            await mcp.end();
          }
        },
        { mayUsePages: true, config: CONFIG, page: answers },
      ));

    test("a client gets nowhere that it may not be, and at no tab of another one", () =>
      inBrowser.run(
        async (world: World) => {
          const { harbor, site } = world;
          const one = await client(world, "one");
          const other = await allowed(harbor, "other", ["--tool", "browser/*"]);
          try {
            for (const url of ["file:///etc/passwd", "about:config", "view-source:http://localhost/", "data:text/html,x", "javascript:alert(1)", "http://user:pw@localhost/", "http://BLOCKED.localhost./"]) {
              const refused = await one.call("browser_navigate", { url });
              assert.ok(refused.isError, `${url}: ${refused.text}`);
            }
            await one.call("browser_navigate", { url: `${site.origin}/mine` });
            const away = await one.call("browser_navigate", { url: `${site.origin}/away` });
            const seen = away.isError ? away : await one.call("browser_snapshot");
            assert.doesNotMatch(seen.structured["page"]?.url ?? "", /blocked/);
            await one.call("browser_navigate", { url: `${site.origin}/mine` });
            const mine: number = (await one.call("browser_tabs", { action: "list" })).structured["page"].tab_id;
            const stolen = await other.call("browser_snapshot", { tabId: mine });
            assert.ok(stolen.isError, stolen.text);
            assert.doesNotMatch(stolen.text, /mine/);
          } finally {
            await one.end();
            await other.end();
          }
        },
        { mayUsePages: true, config: CONFIG, page: answers },
      ));

    test("what was granted for servers is none for the browser", () =>
      inBrowser.run(
        async (world: World) => {
          const mcp = await client(world, "granted");
          await mcp.end();
          const all = await allowed(world.harbor, "all", []);
          try {
            const call = all.call("browser_snapshot");
            // The person is asked, as about all that was granted to nobody, and says no.
            const question = await until("the question", async () => {
              const { waiting } = JSON.parse(await world.harbor.cli("approvals", "list", "--json"));
              return waiting[0] as { id: string; tool: string } | undefined;
            });
            assert.equal(question.tool, "browser/browser_snapshot");
            await world.harbor.cli("approvals", "no", question.id);
            const refused = await call;
            assert.ok(refused.isError, refused.text);
          } finally {
            await all.end();
          }
        },
        { mayUsePages: true, page: answers },
      ));
  });
}
