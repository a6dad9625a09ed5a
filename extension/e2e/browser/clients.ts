// AI clients that were granted the browser, as tests use them.
//
// Owns how the tools are switched on. Must never grant more than a test says.

import assert from "node:assert/strict";
import { type Page, until } from "../driver/browser.ts";
import type { Harbor } from "../driver/harbor.ts";
import { McpClient } from "../driver/mcp_client.ts";
import type { World } from "../driver/world.ts";
import type { Agent } from "./tasks.ts";

/** Switches the tools on where they are off, as a person does in the panel; gives that. */
export async function switchOn({ browser, harbor }: World): Promise<Page> {
  const panel = await browser.open(browser.harborUrl("sidebar.html#browser"));
  const areThere = async () => (await harbor.cli("tools", "browser").catch(() => "")).includes("browser_snapshot") || undefined;
  if (!(await areThere())) {
    await panel.click("#browser-switch");
    await until("the tools", areThere);
  }
  return panel;
}

/** Switches the tools on, and gives a client what it needs. */
export async function client(world: World, name: string): Promise<McpClient> {
  await switchOn(world);
  return allowed(world.harbor, name, ["--tool", "browser/*"]);
}

/** A client that was granted all tools, or these. */
export async function allowed(harbor: Harbor, name: string, tools: string[]): Promise<McpClient> {
  for (const scope of ["mcp:tools.list", "mcp:tools.call"]) await harbor.cli("grant", `client://${name}`, scope, "--always", ...tools);
  return McpClient.of(harbor, name);
}

/** What tasks are done with. */
export function agentOf(mcp: McpClient, site: string): Agent {
  const call = (tool: string, args: object = {}) => mcp.call(`browser_${tool}`, args);
  const agent: Agent = {
    call,
    site,
    async do(tool, args) {
      const given = await call(tool, args);
      assert.ok(!given.isError, `${tool} ${JSON.stringify(args)}: ${given.text}`);
      return given;
    },
    async ref(role, name) {
      const { text } = await agent.do("snapshot");
      const pattern = new RegExp(`\\b${role} ${name === undefined ? "" : `"${name}[^"]*" `}\\[ref=(f\\d+e\\d+)\\]`);
      const found = pattern.exec(text)?.[1];
      assert.ok(found !== undefined, `no ${role} ${name ?? ""} in ${text}`);
      return found;
    },
  };
  return agent;
}
