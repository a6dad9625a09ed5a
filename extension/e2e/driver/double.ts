// An MCP server of the tests' own, for what real ones do not do when they are told to; and a page that may use it.
//
// Owns that program. Must never replace a real server where one would do.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { askAndAllow } from "./asking.ts";
import type { Page } from "./browser.ts";
import type { Harbor } from "./harbor.ts";
import type { World } from "./world.ts";

/**
 * again: has the echo of models call its first tool. large: 1.5 MB. end: ends without an answer. wait: says that it has begun, and answers nothing; each cancellation of it is counted. life: an id of this
 * run. cancelled: how many there were, over all runs. reword: what all tools say of themselves from the next start on. flood: says so many times
 * how far it is, without a pause. digest: of a variable of its environment, which only who knows the value can compare.
 */
export const DOUBLE = `
const { createInterface } = require("node:readline");
const { appendFileSync, existsSync, readFileSync, writeFileSync } = require("node:fs");
const life = require("node:crypto").randomUUID();
const waits = new Set();
const kept = (file) => (existsSync(file) ? readFileSync(file, "utf8") : "");
const tool = (name) => ({ name, description: name + kept("words"), inputSchema: { type: "object" } });
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
const text = (text) => ({ content: [{ type: "text", text }] });
const TOOLS = {
  again: () => text("<GenerateSimpleToolCalls>"),
  large: () => text("x".repeat(1500000)),
  life: () => text(life),
  end: () => process.exit(1),
  wait: () => undefined,
  cancelled: () => text(String(kept("cancelled").length)),
  reword: ({ words }) => (writeFileSync("words", words), text("done")),
  digest: ({ name }) => text(require("node:crypto").createHash("sha256").update(process.env[name] ?? "").digest("hex")),
  flood: ({ times }, far) => {
    for (let time = 1; time < times; time += 1) far(time + 1);
    return text("done");
  },
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "notifications/cancelled" && waits.has(params.requestId)) appendFileSync("cancelled", "x");
  if (id === undefined) return;
  if (method === "initialize") {
    const { protocolVersion } = params;
    return say({ id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "t", version: "1" } } });
  }
  if (method === "tools/list") return say({ id, result: { tools: Object.keys(TOOLS).map(tool) } });
  if (method !== "tools/call") return say({ id, error: { code: -32601, message: "no" } });
  if (params.name === "wait") waits.add(id);
  const progressToken = params._meta?.progressToken;
  const far = (progress, message) => say({ method: "notifications/progress", params: { progressToken, progress, message } });
  if (progressToken !== undefined) far(1, "begun");
  const result = TOOLS[params.name](params.arguments ?? {}, far);
  if (result !== undefined) say({ id, result });
});
`;

/** Adds the server, as `t`. */
export async function addDouble(harbor: Harbor): Promise<void> {
  const program = join(harbor.dir, "server.cjs");
  await writeFile(program, DOUBLE);
  await harbor.cli("add", "t", "--auto-start", "--", "node", program);
}

/** A page that may call all tools of it, for good. */
export async function allowed({ browser, site, harbor }: World): Promise<Page> {
  await addDouble(harbor);
  const page = await browser.open(site.url);
  await askAndAllow(browser, page, "always");
  return page;
}
