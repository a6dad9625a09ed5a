// The part of MCP that harbor:mcp leaves out, by MCP.readLine and MCP.writeLine. What is asked for stands in cases.txt.
const VERSION = "io.modelcontextprotocol/protocolVersion";
const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
const PAGE = 2;

const tools = ["change", "say", "ask"];
let least = "debug";
/** What is to be done with the answer to a question of this server, by its id. */
const asked = new Map();
let last = 0;

const send = (message) => MCP.writeLine(JSON.stringify({ jsonrpc: "2.0", ...message }));
const refuse = (code, message) => { throw { code, message }; };
const text = (said, isError) => ({ content: [{ type: "text", text: said }], isError });
const question = { message: "Which one?", requestedSchema: { type: "object", properties: {} } };

const page = (cursor) => {
  const at = cursor === undefined ? 0 : Number(cursor);
  if (!(at > 0 && at < tools.length) && cursor !== undefined) refuse(-32602, "there is no such page");
  const list = tools.slice(at, at + PAGE).map((name) => ({ name, inputSchema: { type: "object" } }));
  return { tools: list, nextCursor: at + PAGE < tools.length ? `${at + PAGE}` : undefined };
};

const ask = (answer) => {
  const id = `ask-${++last}`;
  asked.set(id, ({ result, error }) => {
    if (error) answer(text("the client does not ask", true));
    else answer(text(result.action === "accept" ? "answered" : "declined"));
  });
  send({ id, method: "elicitation/create", params: question });
};

const call = (params, modern, answer) => {
  switch (params.name) {
    case "change":
      if (!tools.includes("extra")) tools.push("extra");
      send({ method: "notifications/tools/list_changed" });
      return answer(text("changed"));
    case "say": {
      const { level, text: said } = params.arguments;
      if (LEVELS.indexOf(level) >= LEVELS.indexOf(least)) send({ method: "notifications/message", params: { level, data: said } });
      return answer(text("said"));
    }
    case "ask":
      if (!modern) return ask(answer);
      if (params.requestState !== "asked") {
        const which = { method: "elicitation/create", params: question };
        return answer({ resultType: "input_required", inputRequests: { which }, requestState: "asked" });
      }
      return answer(text(params.inputResponses.which.action === "accept" ? "answered" : "declined"));
    default:
      return refuse(-32602, "there is no such tool");
  }
};

const take = (method, params, modern, answer) => {
  switch (method) {
    case "initialize":
      return answer({
        protocolVersion: "2025-11-25",
        capabilities: { tools: { listChanged: true }, logging: {} },
        serverInfo: { name: "conformance", version: "1.0" },
      });
    case "server/discover":
      return answer({ supportedVersions: ["2026-07-28"], capabilities: { tools: {} }, ttlMs: 0, cacheScope: "private" });
    case "ping":
      return answer({});
    case "tools/list":
      return answer(page(params.cursor));
    case "tools/call":
      return call(params, modern, answer);
    case "logging/setLevel":
      if (!LEVELS.includes(params.level)) refuse(-32602, "there is no such level");
      least = params.level;
      return answer({});
    default:
      return refuse(-32601, `Method not found: ${method}`);
  }
};

for (let line; (line = await MCP.readLine()) !== null; ) {
  const { id, method, params = {}, result, error } = JSON.parse(line);
  if (method === undefined) {
    asked.get(id)?.({ result, error });
    asked.delete(id);
  } else if (id !== undefined) {
    const modern = params._meta?.[VERSION] !== undefined;
    try {
      take(method, params, modern, (said) => send({ id, result: modern ? { resultType: "complete", ...said } : said }));
    } catch (wrong) {
      send({ id, error: wrong });
    }
  }
}
