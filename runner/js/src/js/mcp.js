// The module harbor:mcp: an MCP server that offers tools.
//
// Owns MCP's envelope in both of its generations. It keeps what it uses before the script runs, which may change any
// built-in object. Must never log arguments or results, nor answer a request twice.
const { parse, stringify } = JSON;
const { isArray } = Array;
const { readLine, writeLine } = MCP;
const { apply } = Reflect;
const { keys, create } = Object;
const { error: log } = console;
const Controller = AbortController;
const abort = Controller.prototype.abort;
const text = String;
const ErrorHere = Error;

/** The revision without `initialize`; each request says it. */
const MODERN = "2026-07-28";
/** The revisions with `initialize`, newest first. */
const LEGACY = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

const VERSION = "io.modelcontextprotocol/protocolVersion";
const SERVER = "io.modelcontextprotocol/serverInfo";

/** An answer that is an error of the protocol. */
class Refusal {
  constructor(code, message, data) {
    this.error = data === undefined ? { code, message } : { code, message, data };
  }
}

const is_object = (value) => typeof value === "object" && value !== null && !isArray(value);

/** A tool as it is listed, or an error that says what its author has to change. */
const listed = (name, tool) => {
  const wrong = (what) => new TypeError(`serve: the tool ${name} ${what}`);
  if (!is_object(tool)) throw wrong("must be an object");
  if (typeof tool.run !== "function") throw wrong("needs a function `run`");
  if (tool.input !== undefined && !is_object(tool.input)) throw wrong("has an `input` that is no JSON schema");
  const inputSchema = { type: "object", ...tool.input };
  if (inputSchema.type !== "object") throw wrong("has an `input` whose type is not \"object\"");
  const { title, description, output: outputSchema, annotations } = tool;
  return { name, title, description, inputSchema, outputSchema, annotations };
};

/** What a tool returned, as MCP has it. */
const result_of = (value) => {
  if (value === undefined || value === null) return { content: [] };
  if (isArray(value)) return { content: value };
  if (typeof value !== "object") return { content: [{ type: "text", text: text(value) }] };
  if (isArray(value.content)) return value;
  return { content: [{ type: "text", text: stringify(value) }], structuredContent: value };
};

/** What a tool threw, as MCP has it. */
const failure_of = (error) => {
  // The engine throws null where memory does not suffice for an error.
  const said = error === null ? "out of memory" : error instanceof ErrorHere ? error.message || error.name : text(error);
  return { content: [{ type: "text", text: said }], isError: true };
};

/**
 * Serves tools until the client is gone.
 *
 * server: { name, version, instructions?, tools: { NAME: { description, input, run(arguments, context) } } }
 * run returns a text, an array of MCP content, an object (structured content), or a promise of one. What it throws is
 * an answer with isError. context: { signal, progress(done, total?, message?), meta }.
 */
export const serve = async (server) => {
  if (!is_object(server) || !is_object(server.tools)) throw new TypeError("serve takes { name, version, tools: { … } }");
  const info = { name: text(server.name ?? "server"), version: text(server.version ?? "0.0.0") };
  const { instructions } = server;
  const capabilities = { tools: {} };
  const tools = create(null);
  const list = [];
  for (const name of keys(server.tools)) {
    list[list.length] = listed(name, server.tools[name]);
    tools[name] = server.tools[name];
  }
  /** The controllers of open calls, by the JSON of their id. */
  const open = create(null);

  const send = (message) => writeLine(stringify({ jsonrpc: "2.0", ...message }));

  const call = async (id, params) => {
    const tool = typeof params.name === "string" ? tools[params.name] : undefined;
    if (!tool) throw new Refusal(-32602, `Unknown tool: ${text(params.name)}`);
    const given = params.arguments ?? {};
    if (!is_object(given)) throw new Refusal(-32602, "arguments must be an object");
    const token = params._meta?.progressToken;
    const controller = (open[stringify(id)] = new Controller());
    const { signal } = controller;
    const progress = (done, total, message) => {
      if (token === undefined || signal.aborted || !open[stringify(id)]) return;
      send({ method: "notifications/progress", params: { progressToken: token, progress: done, total, message } });
    };
    try {
      return result_of(await tool.run(given, { signal, progress, meta: params._meta ?? {} }));
    } catch (error) {
      if (!signal.aborted) log(`the tool ${params.name} threw ${error?.name ?? "an error"}\n${error?.stack ?? ""}`);
      return failure_of(error);
    }
  };

  const initialize = (params) => {
    let protocolVersion = LEGACY[0];
    for (let at = 0; at < LEGACY.length; at++) if (LEGACY[at] === params.protocolVersion) protocolVersion = LEGACY[at];
    return { protocolVersion, capabilities, serverInfo: info, instructions };
  };

  const discover = () => ({
    supportedVersions: [MODERN],
    capabilities,
    instructions,
    ttlMs: 0,
    cacheScope: "private",
    _meta: { [SERVER]: info },
  });

  const answer = async (id, method, params) => {
    const revision = params._meta?.[VERSION];
    if (revision !== undefined && revision !== MODERN) {
      throw new Refusal(-32022, "Unsupported protocol version", { supported: [MODERN], requested: revision });
    }
    switch (method) {
      case "initialize":
        return initialize(params);
      case "server/discover":
        return discover();
      case "ping":
        return {};
      case "tools/list":
        return revision ? { tools: list, ttlMs: 0, cacheScope: "private" } : { tools: list };
      case "tools/call":
        return call(id, params);
      default:
        throw new Refusal(-32601, `Method not found: ${method}`);
    }
  };

  const cancel = (params) => {
    const controller = open[stringify(params.requestId)];
    if (controller) apply(abort, controller, [params.reason]);
  };

  /** Answers one request. A cancelled one gets no answer. */
  const request = async (id, method, params) => {
    let said;
    try {
      const result = await answer(id, method, params);
      said = { id, result: params._meta?.[VERSION] ? { resultType: "complete", ...result } : result };
    } catch (error) {
      said = { id, error: error instanceof Refusal ? error.error : { code: -32603, message: text(error?.message ?? error) } };
    }
    const controller = open[stringify(id)];
    delete open[stringify(id)];
    if (controller?.signal.aborted) return;
    try {
      send(said);
    } catch (error) {
      // It is too long, or no JSON.
      send({ id, result: { ...(params._meta?.[VERSION] && { resultType: "complete" }), ...failure_of(error) } });
    }
  };

  const take = (line) => {
    let message;
    try {
      message = parse(line);
    } catch {
      return send({ id: null, error: { code: -32700, message: "the line is not JSON" } });
    }
    if (!is_object(message) || (message.method !== undefined && typeof message.method !== "string")) {
      return send({ id: null, error: { code: -32600, message: "the line is not a JSON-RPC message" } });
    }
    const { id, method } = message;
    const params = is_object(message.params) ? message.params : {};
    // Answers are to requests; this server makes none.
    if (method === undefined) return undefined;
    if (id !== undefined) return void request(id, method, params);
    if (method === "notifications/cancelled") cancel(params);
    return undefined;
  };

  for (;;) {
    let line;
    try {
      line = await readLine();
    } catch (error) {
      send({ id: null, error: { code: -32700, message: error.message } });
      continue;
    }
    if (line === null) return;
    if (line !== "") take(line);
  }
};
