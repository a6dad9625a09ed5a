// A server with the tools that tests of the sidebar try out, and that documents of it show.
//
// Owns its source. It answers without anything else on the machine.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Harbor } from "./harbor.ts";

/** A red square. */
const PIXELS = "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEklEQVR4nGO4o6SEFTEMLQkA2A4/wTUcVrUAAAAASUVORK5CYII=";

const TOOLS = [
  {
    name: "forecast",
    description: "The weather of the next days in a city, as measured and as guessed.",
    inputSchema: {
      type: "object",
      required: ["city"],
      properties: {
        city: { type: "string", title: "City", description: "Its name, as its people write it." },
        days: { type: "integer", title: "Days", default: 3, minimum: 1, maximum: 7 },
        unit: { type: "string", title: "Unit", enum: ["celsius", "fahrenheit"], default: "celsius" },
        nights: { type: "boolean", title: "Nights, too" },
        hours: { type: "array", title: "Hours", items: { type: "integer" } },
        place: { type: "object", title: "Place", properties: { country: { type: "string", title: "Country" } } },
      },
    },
    annotations: { readOnlyHint: true, openWorldHint: true },
  },
  { name: "map", description: "A map of what falls where, as an image.", inputSchema: { type: "object" } },
  { name: "measure", description: "Measures until it is told to stop, and says how far it is.", inputSchema: { type: "object" } },
  { name: "report", description: "Takes a report of what you see. It fails where there is none.", inputSchema: { oneOf: [{ type: "object" }] } },
];

const SOURCE = `
const tools = TOOLS;
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
const text = (text, more = {}) => ({ content: [{ type: "text", text }], ...more });
process.stderr.write("ready for questions\\n");
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = (result) => say({ id, result });
  if (method === "initialize") {
    const { protocolVersion } = params;
    return answer({ protocolVersion, capabilities: { tools: {}, logging: {} }, serverInfo: { name: "weather", version: "1.4.0" } });
  }
  if (method === "tools/list") return answer({ tools });
  if (method !== "tools/call") return say({ id, error: { code: -32601, message: "no" } });
  const { name, arguments: args, _meta } = params;
  process.stderr.write("asked for " + name + "\\n");
  if (name === "forecast" && args.city === "nowhere") say({ method: "notifications/message", params: { level: "warning", data: "there is no such city" } });
  if (name === "forecast") answer(text(JSON.stringify(args)));
  if (name === "map") answer({ content: [{ type: "image", mimeType: "image/png", data: "${PIXELS}" }], structuredContent: { falls: "rain" } });
  if (name === "measure") say({ method: "notifications/progress", params: { progressToken: _meta.progressToken, progress: 1, total: 3, message: "one of three" } });
  if (name === "report") answer(text("there is nothing to see", { isError: true }));
});
`;

/** Writes it, with what one of its tools says of itself. */
export async function writeToolsServer({ dir }: Harbor, words = TOOLS[1]?.description ?? ""): Promise<string> {
  const program = join(dir, "weather.cjs");
  const tools = TOOLS.map((tool) => (tool.name === "map" ? { ...tool, description: words } : tool));
  await writeFile(program, SOURCE.replace("TOOLS", () => JSON.stringify(tools)));
  return program;
}
