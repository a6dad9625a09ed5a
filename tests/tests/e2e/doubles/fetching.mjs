// An MCP server of Node's own means: one tool, which fetches a page and gives status and text.
import { createInterface } from "node:readline";

const tool = {
  name: "fetch",
  inputSchema: { type: "object", properties: { url: { type: "string" } }, required: ["url"] },
};

const answers = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "fetching", version: "1" },
  }),
  "tools/list": () => ({ tools: [tool] }),
  "tools/call": async ({ arguments: { url } }) => {
    try {
      const page = await fetch(url);
      return { content: [{ type: "text", text: `${page.status} ${await page.text()}` }] };
    } catch (error) {
      return { content: [{ type: "text", text: `${error} ${error.cause ?? ""}` }], isError: true };
    }
  },
  ping: () => ({}),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = answers[method];
  const reply = answer
    ? { result: await answer(params) }
    : { error: { code: -32601, message: "there is no such method" } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...reply })}\n`);
}
