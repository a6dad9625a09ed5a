// Secrets that are typed by name: put in at their own site, and in nothing that anybody is told.

import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { agentOf, client } from "../browser/clients.ts";
import type { Given } from "../driver/mcp_client.ts";
import type { Answers } from "../driver/site.ts";
import { type World, inBrowsers } from "../driver/world.ts";

const VALUE = 'correct "horse" <_battery*/staple&1!';

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/** A page that shows what is typed into it wherever it can, and has a frame of another site. */
const pages = (world: () => World): Answers => (path) => {
  if (path === "/inner") return { html: "<label>Inner <input id=inner></label>" };
  if (path.startsWith("/sent")) return { html: `<meta charset=utf-8><title>Sent</title><h1>You sent ${escaped(new URL(path, "http://x").searchParams.get("key") ?? "")}</h1>` };
  const frame = `<iframe title=Frame src="${world().site.other}/inner"></iframe>`;
  const echo = `<script>key.oninput = () => { document.title = key.value; said.textContent = "typed: " + key.value; console.log(key.value); }</script>`;
  return { html: `<title>Pay</title><form action=/sent><label>Key <input id=key name=key></label><label>More <input id=more></label><button>Send</button></form><p id=said role=status></p>${frame}${echo}` };
};

/** All files below a directory, but the one that has the secrets. */
async function filesOf(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true, recursive: true });
  return entries.filter((entry) => entry.isFile() && entry.name !== "credentials.json").map((entry) => join(entry.parentPath, entry.name));
}

const denied = ({ structured }: Given): unknown => structured["denied"]?.reason;

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("a secret is typed by its name at its own site only, and its value comes back nowhere", () => {
      let world: World | undefined;
      return inBrowser.run(
        async (begun: World) => {
          world = begun;
          const { browser, harbor, site } = begun;
          const mcp = await client(begun, "typist");
          await harbor.tell(VALUE, "secrets", "set", "browser", "PAY_KEY", "--site", site.origin);
          const agent = agentOf(mcp, site.origin);
          const told: Given[] = [];
          const call = async (tool: string, args: object = {}) => {
            const given = await agent.call(tool, args);
            told.push(given);
            return given;
          };
          const secret = { secret: "PAY_KEY" };
          try {
            // At another site, and by another name, there is none.
            await call("navigate", { url: `${site.other}/elsewhere` });
            assert.equal(denied(await call("type", { target: "#key", text: secret })), "secret");
            await call("navigate", { url: `${site.origin}/pay` });
            const page = await browser.find("/pay");
            assert.equal(denied(await call("type", { target: "#key", text: { secret: "OTHER" } })), "secret");
            // The tab is there, and the field is in a frame of another site.
            const framed = await call("type", { target: await agent.ref("textbox", "Inner"), text: secret });
            assert.ok(framed.isError, framed.text);
            assert.match(framed.text, /this secret is for/);
            // Here it is typed, into fields that are no secret ones.
            const typed = await call("type", { target: "#key", text: secret });
            assert.ok(!typed.isError, typed.text);
            const fields = [{ target: "#more", name: "More", type: "textbox", value: secret }];
            assert.ok(!(await call("fill_form", { fields, snapshot: true })).isError);
            assert.deepEqual(await page.run("return [key.value, more.value, said.textContent]"), [VALUE, VALUE, `typed: ${VALUE}`]);
            for (const tool of ["snapshot", "console_messages"]) assert.ok(!(await call(tool)).isError);
            await call("find", { text: "typed" });
            for (const mode of ["text", "html"]) await call("read", { mode });
            const asked = await call("wait_for", { target: '#key[ VALUE^="c"]', timeout: 0.3 });
            assert.match(asked.text, /nothing is named by a value/);
            // The next document has it in its text and its address, and knows nothing of it.
            await call("click", { target: "button", snapshot: true });
            for (const tool of ["snapshot", "read", "network_requests"]) await call(tool);
            await call("tabs", { action: "list" });
            await call("session", { action: "events" });
            assert.match(told.at(-3)?.text ?? "", /PAY_KEY/, "the address has a mark in its place");
            for (const mode of ["html", "markdown"]) await call("read", { mode });
            let pieces = "";
            for (let offset = 0; offset < 60; offset += 5) pieces += /<page-text[^>]*>\n([^\n]*)/.exec((await call("read", { offset, maxChars: 5 })).text)?.[1] ?? "";
            assert.match(pieces, /^You sent \[PAY_KEY\]/);
            assert.equal(await (await browser.find("/sent")).run("return document.querySelector('h1').textContent"), `You sent ${VALUE}`);
          } finally {
            await mcp.end();
          }
          const parts = ["correct", "horse", "staple"];
          for (const given of told) for (const part of parts) assert.ok(!JSON.stringify(given).includes(part), `${part} in ${JSON.stringify(given)}`);
          assert.match(await harbor.cli("secrets", "list", "browser"), new RegExp(`PAY_KEY for ${site.origin}`));
          const kept = await Promise.all((await filesOf(join(harbor.dir, "home"))).map((file) => readFile(file, "latin1")));
          for (const text of kept) assert.ok(!text.includes("battery"));
          await harbor.cli("secrets", "remove", "browser", "PAY_KEY");
          assert.doesNotMatch(await harbor.cli("secrets", "list"), /PAY_KEY/);
        },
        { mayUsePages: true, page: (path) => (world === undefined ? { html: "" } : pages(() => world as World)(path)) },
      );
    });
  });
}
