// Several steps in one call, and the tools for tests: a group that the person switches on.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { agentOf, allowed, client } from "../browser/clients.ts";
import { until } from "../driver/browser.ts";
import { type World, inBrowsers } from "../driver/world.ts";

const PAGE = `<!doctype html><meta charset=utf-8><title>Steps</title><button id=add onclick="count.textContent = 1 + Number(count.textContent)">Add</button><p id=count role=status>0</p>
  <button onclick="this.textContent = String(confirm('Really?'))">Ask</button><ul><li>Milk</li><li>Bread</li></ul>
  <label>Name <input value=Ann></label><label><input type=checkbox checked> News</label><label>Password <input type=password value=hunter2></label>`;

const step = (tool: string, args: object = {}) => ({ tool: `browser_${tool}`, arguments: args });

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("a batch stops at the first failure or dialog, and each step is a call by itself", () =>
      inBrowser.run(
        async (world: World) => {
          const { harbor, site } = world;
          const mcp = await client(world, "steps");
          const other = await allowed(harbor, "reader", ["--tool", "browser/browser_batch", "--tool", "browser/browser_tabs"]);
          try {
            const agent = agentOf(mcp, site.origin);
            const names = (await mcp.tools()).map(({ name }) => name);
            assert.ok(names.includes("browser_batch") && names.includes("browser_verify_value"), names.join());
            // No test has given this browser what scripts need.
            assert.ok(!names.includes("browser_evaluate"));
            await agent.do("navigate", { url: site.origin });
            const add = step("click", { target: "#add" });
            const ask = step("click", { target: await agent.ref("button", "Ask") });
            const many = await agent.do("batch", { steps: [add, add, ask, ...Array.from({ length: 197 }, () => add)] });
            assert.deepEqual([many.structured["stopped"], many.structured["begun"], many.structured["of"]], ["dialog", 3, 200]);
            assert.match(many.text, /confirm "Really\?" was dismissed/);
            // An answer that was decided before stops nothing.
            const decided = await agent.do("batch", { steps: [step("handle_dialog", { accept: true }), ask, step("verify_text_visible", { text: "true" }), step("verify_text_visible", { text: "2" })] });
            assert.equal(decided.structured["stopped"], null, decided.text);
            const failing = await mcp.call("browser_batch", { steps: [step("verify_element_visible", { role: "button", accessibleName: "Add" }), step("click", { target: "#nothing" }), add] });
            assert.ok(failing.isError && /nothing in the page matches/.test(failing.text), failing.text);
            assert.deepEqual([failing.structured["stopped"], failing.structured["begun"]], ["failure", 2]);
            for (const steps of [[], [step("batch", { steps: [add] })], [{ tool: "browser_none" }]]) assert.ok((await mcp.call("browser_batch", { steps }).catch(() => ({ isError: true }))).isError);
            // What a client was not granted it does not get by a batch.
            const refused = await other.call("browser_batch", { steps: [step("tabs", { action: "list" }), add] });
            assert.deepEqual([refused.isError, refused.structured["begun"]], [true, 2], refused.text);
            assert.equal(await (await world.browser.find(site.origin)).run("return count.textContent"), "2");
          } finally {
            await Promise.all([mcp.end(), other.end()]);
          }
        },
        { mayUsePages: true, config: '[browser]\ngroups = ["testing"]\n', page: () => ({ html: PAGE }) },
      ));

    test("what a test wants is verified, and a page that waits holds up no other", () =>
      inBrowser.run(
        async (world: World) => {
          const { harbor, site } = world;
          const mcp = await client(world, "tester");
          try {
            const agent = agentOf(mcp, site.origin);
            await agent.do("navigate", { url: site.origin });
            const list = await agent.ref("list");
            const [name, news, password] = [await agent.ref("textbox", "Name"), await agent.ref("checkbox", "News"), await agent.ref("textbox", "Password")];
            const verify = async (tool: string, args: object) => !(await mcp.call(`browser_verify_${tool}`, args)).isError;
            assert.ok(await verify("list_visible", { target: list, items: ["Milk", "Bread"] }));
            assert.ok(!(await verify("list_visible", { target: list, items: ["Bread", "Milk"] })));
            assert.ok(await verify("value", { type: "textbox", target: name, value: "Ann" }));
            assert.ok(!(await verify("value", { type: "textbox", target: name, value: "Bea" })));
            assert.ok(await verify("value", { type: "checkbox", target: news, value: "true" }));
            assert.ok(!(await verify("value", { type: "textbox", target: password, value: "hunter2" })));
            assert.ok(!(await verify("text_visible", { text: "Nowhere" })));
            assert.ok(!(await verify("element_visible", { role: "link", accessibleName: "Add" })));
            // The same client reads in one tab while it waits in another.
            const first: number = (await agent.do("tabs", { action: "list" })).structured["page"].tab_id;
            await agent.do("tabs", { action: "new", url: `${site.origin}/two` });
            const order: string[] = [];
            const waits = agent.call("wait_for", { text: "never", timeout: 3, tabId: first }).then(() => order.push("waited"));
            await agent.do("snapshot");
            order.push("read");
            await waits;
            assert.deepEqual(order, ["read", "waited"]);
            // Switched off, the group is not there.
            await harbor.configure("[browser]\n");
            await until("the group to go", async () => !(await mcp.tools()).some(({ name: one }) => one.startsWith("browser_verify")) || undefined);
          } finally {
            await mcp.end();
          }
        },
        { mayUsePages: true, config: '[browser]\ngroups = ["testing"]\n', page: () => ({ html: PAGE }) },
      ));
  });
}
