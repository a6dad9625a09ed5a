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
const { slice } = String.prototype;
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

const is_promise = (value) => typeof value === "object" && value !== null && typeof value.then === "function";

const send = (message) => writeLine(stringify({ jsonrpc: "2.0", ...message }));

const send_result = (id, result, revision) => {
  try {
    writeLine(`{"jsonrpc":"2.0","id":${stringify(id)},"result":${body_of(result, revision)}}`);
  } catch (error) {
    // It is too long, or no JSON.
    writeLine(`{"jsonrpc":"2.0","id":${stringify(id)},"result":${body_of(failure_of(error), revision)}}`);
  }
};

/** A result as it is sent. The newer generation says of one that it is complete. */
const body_of = (result, revision) => {
  const body = stringify(result);
  if (body?.[0] !== "{") throw new TypeError("the result is no object");
  if (revision === undefined || result.resultType !== undefined) return body;
  return body === "{}" ? '{"resultType":"complete"}' : `{"resultType":"complete",${apply(slice, body, [1])}`;
};

/** What tells calls apart: 7 and "7" are two ids. */
const key_of = (id) => (typeof id === "number" ? id : stringify(id));

/** A call that has no answer yet. */
class OpenCall {
  is_open = true;
  is_cancelled = false;
  #params;
  #controller;
  #reason;

  constructor(params) {
    this.#params = params;
  }

  /** What the tool gets. Its parts are made when they are asked for: most tools want none. */
  get context() {
    return new CallContext(this);
  }

  get signal() {
    this.#controller ??= new Controller();
    if (this.is_cancelled && !this.#controller.signal.aborted) apply(abort, this.#controller, [this.#reason]);
    return this.#controller.signal;
  }

  get meta() {
    return this.#params._meta ?? {};
  }

  progress(done, total, message) {
    const token = this.#params._meta?.progressToken;
    if (token === undefined || this.is_cancelled || !this.is_open) return;
    send({ method: "notifications/progress", params: { progressToken: token, progress: done, total, message } });
  }

  cancel(reason) {
    this.is_cancelled = true;
    this.#reason = reason;
    if (this.#controller) apply(abort, this.#controller, [reason]);
  }

  /** The answer to a call whose tool threw this. */
  failure(error) {
    if (!this.is_cancelled) log(`the tool ${this.#params.name} threw ${error?.name ?? "an error"}\n${error?.stack ?? ""}`);
    return failure_of(error);
  }
}

/** The second argument of a tool's function. */
class CallContext {
  #call;

  constructor(call) {
    this.#call = call;
  }

  get signal() {
    return this.#call.signal;
  }

  get progress() {
    return (done, total, message) => this.#call.progress(done, total, message);
  }

  get meta() {
    return this.#call.meta;
  }
}

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
  /** Calls whose tools have not answered yet, by their id. */
  const open = create(null);

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

  /** The result of a request that is no call. */
  const answer = (method, params, revision) => {
    switch (method) {
      case "initialize":
        return initialize(params);
      case "server/discover":
        return discover();
      case "ping":
        return {};
      case "tools/list":
        return revision ? { tools: list, ttlMs: 0, cacheScope: "private" } : { tools: list };
      default:
        throw new Refusal(-32601, `Method not found: ${method}`);
    }
  };

  /** Calls a tool. What answers at once is sent at once: a promise costs more than most tools. */
  const call = (id, params, revision) => {
    const tool = typeof params.name === "string" ? tools[params.name] : undefined;
    if (!tool) throw new Refusal(-32602, `Unknown tool: ${text(params.name)}`);
    const given = params.arguments ?? {};
    if (!is_object(given)) throw new Refusal(-32602, "arguments must be an object");
    const opened = new OpenCall(params);
    let value;
    try {
      value = tool.run(given, opened.context);
      if (is_promise(value)) return void answer_later(id, revision, opened, value);
      value = result_of(value);
    } catch (error) {
      value = opened.failure(error);
    }
    opened.is_open = false;
    send_result(id, value, revision);
  };

  const answer_later = async (id, revision, opened, promise) => {
    const key = key_of(id);
    open[key] = opened;
    let value;
    try {
      value = result_of(await promise);
    } catch (error) {
      value = opened.failure(error);
    }
    delete open[key];
    opened.is_open = false;
    // A cancelled one gets no answer.
    if (!opened.is_cancelled) send_result(id, value, revision);
  };

  /** Answers one request. */
  const request = (id, method, params) => {
    const revision = params._meta?.[VERSION];
    try {
      if (revision !== undefined && revision !== MODERN) {
        throw new Refusal(-32022, "Unsupported protocol version", { supported: [MODERN], requested: revision });
      }
      if (method === "tools/call") call(id, params, revision);
      else send_result(id, answer(method, params, revision), revision);
    } catch (error) {
      send({ id, error: error instanceof Refusal ? error.error : { code: -32603, message: text(error?.message ?? error) } });
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
    if (id !== undefined) request(id, method, params);
    else if (method === "notifications/cancelled") open[key_of(params.requestId)]?.cancel(params.reason);
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
