// An AI client in the browser of the demo: opens a page, fills its form and reads what came of it, in a tab of its own.
//
// Owns which tools that takes, and the grant, which lasts ten minutes. Must never touch the person's tab: that it stays where it
// was is part of what is shown.

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type Browser, type Page, until } from "../driver/browser.ts";
import { McpClient } from "../driver/mcp_client.ts";

const NAME = "demo-client";

/** Harbor as it was installed. */
export interface Installed {
  program: string;
  home: string;
  env: NodeJS.ProcessEnv;
  /** Runs `harbor ARGS…`; what it prints. */
  cli(...args: string[]): Promise<string>;
}

/** MCP's official SDK is among the packages of the server `everything`. */
async function packages(home: string): Promise<string> {
  const place = join(home, "servers", "everything", "package");
  const [last] = (await readdir(place)).filter((name) => /^\d+$/.test(name)).sort((one, other) => Number(other) - Number(one));
  if (last === undefined) throw new Error(`there is no package in ${place}`);
  return join(place, last, "node_modules");
}

/** Switches the browser's tools on, as a person does in the panel. */
async function switchOn(browser: Browser, { cli }: Installed): Promise<void> {
  const panel = await browser.open(browser.harborUrl("sidebar.html#browser"));
  await panel.click("#browser-switch");
  await until("the browser's tools", async () => ((await cli("tools", "browser").catch(() => "")).includes("browser_snapshot") ? true : undefined));
}

/** The ref of what has this role and name. */
function refOf(snapshot: string, role: string, name: string): string {
  const found = new RegExp(`\\b${role} "${name}[^"]*" \\[ref=(f\\d+e\\d+)\\]`).exec(snapshot)?.[1];
  if (found === undefined) throw new Error(`the snapshot has no ${role} "${name}"`);
  return found;
}

async function book(client: McpClient, url: string): Promise<string> {
  const tool = async (name: string, args: object = {}) => {
    const { text, isError } = await client.call(`browser_${name}`, args);
    if (isError) throw new Error(`browser_${name}: ${text}`);
    return text;
  };
  await tool("navigate", { url });
  const snapshot = await tool("snapshot");
  const fields = [
    { target: refOf(snapshot, "textbox", "Name"), name: "Name", type: "textbox", value: "Penelope" },
    { target: refOf(snapshot, "combobox", "Seats"), name: "Seats", type: "combobox", value: "2" },
  ];
  await tool("fill_form", { fields });
  await tool("click", { target: refOf(snapshot, "button", "Book") });
  return (/Booked for .* seats/.exec(await tool("read", { mode: "text" })) ?? [""])[0];
}

/** Has an AI client book seats on the page at `url`; what it read. `person`: the tab that has to stay where it is. */
export async function visit(browser: Browser, person: Page, url: string, installed: Installed): Promise<string> {
  const where = "return [location.href, document.visibilityState].join(' ')";
  await switchOn(browser, installed);
  const before = await person.run(where);
  for (const scope of ["mcp:tools.list", "mcp:tools.call"]) await installed.cli("grant", `client://${NAME}`, scope, "--for", "10m", "--tool", "browser/*");
  const client = await McpClient.start({ ...installed, args: ["mcp", "--client", NAME], packages: await packages(installed.home) }, NAME);
  try {
    const read = await book(client, url);
    if (read !== "Booked for Penelope: 2 seats") throw new Error(`the client read “${read}”`);
    const after = await person.run(where);
    if (after !== before) throw new Error(`the person's tab was ${before} and is ${after}`);
    return read;
  } finally {
    await client.end();
    for (const scope of ["mcp:tools.list", "mcp:tools.call"]) await installed.cli("revoke", `client://${NAME}`, scope, "--once");
  }
}
