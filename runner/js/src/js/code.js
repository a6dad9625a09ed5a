// The module harbor:code: a script that Harbor runs once, whose calls of tools are its client's.
//
//  client ── tools/call "run" ──► this ── tools/call SERVER/TOOL ──► client     (a request of the server, as sampling is)
//         ◄── what the script returned ──  ◄── the tool's result ──
//
// Owns that conversation, in MCP's generation with `initialize`: there a server asks its client. Must never send what the script wrote to
// the log: it may hold what a tool has answered.
const { parse, stringify } = JSON;
const { isArray } = Array;
const { readLine, writeLine } = MCP;
const { create, freeze } = Object;
const ErrorHere = Error;
const text = String;
const max = Math.max;
const match = RegExp.prototype.exec;
const { apply } = Reflect;
const exec = (pattern, words) => apply(match, pattern, [words]);

/** Characters of what the script has written that are shown. */
const MOST_WRITTEN = 20_000;

const is_object = (value) => typeof value === "object" && value !== null && !isArray(value);
const send = (message) => writeLine(stringify({ jsonrpc: "2.0", ...message }));

/** The calls that a script may make, and how many of them are open at once; the others wait for their turn. */
const MOST_CALLS = 64;
const AT_ONCE = 8;

/** Calls whose results have not come, by the number of the request; and all that were made, in their order. */
const open = create(null);
const made = [];
let begun = 0;
let ended = 0;

const begin = () => {
  while (begun < made.length && begun - ended < AT_ONCE) {
    const id = ++begun;
    const { name, args, resolve, reject } = made[id - 1];
    open[id] = { resolve, reject };
    try {
      send({ id, method: "tools/call", params: { name, arguments: args } });
    } catch (error) {
      // Its arguments are too long, or no JSON.
      settle({ id, error });
    }
  }
};

/** `here`: an error of the place in the script, for what goes wrong. */
const call = (name, args, here) =>
  new Promise((resolve, refuse) => {
    const reject = (why) => refuse(saying(here, why));
    if (made.length >= MOST_CALLS) return reject(`a script makes at most ${MOST_CALLS} calls`);
    made[made.length] = { name, args, resolve, reject };
    begin();
  });

const saying = (error, message) => {
  error.message = message;
  return error;
};

/** What a script gets of a result: its object, else its text, else MCP's content. */
const value_of = (result, here) => {
  const { content = [], structuredContent, isError } = is_object(result) ? result : {};
  let all = "";
  let is_text = isArray(content);
  for (let at = 0; is_text && at < content.length; at++) {
    is_text = content[at]?.type === "text";
    all += (at > 0 ? "\n" : "") + text(content[at]?.text);
  }
  if (isError) throw saying(here, is_text && all !== "" ? all : "the tool says that it has failed");
  if (structuredContent !== undefined) return structuredContent;
  return is_text ? all : content;
};

const tool_of =
  (name) =>
  async (args = {}) => {
    const here = new ErrorHere();
    return value_of(await call(name, args, here), here);
  };

/** `tools.SERVER.TOOL(arguments)`. */
const tools = new Proxy(create(null), {
  get: (_, server) =>
    typeof server !== "string" || server === "then"
      ? undefined
      : new Proxy(create(null), {
          get: (_, tool) => (typeof tool !== "string" || tool === "then" ? undefined : tool_of(`${server}/${tool}`)),
        }),
});

let written = "";
const write = (...parts) => {
  let line = "";
  for (let at = 0; at < parts.length; at++) line += (at > 0 ? " " : "") + (typeof parts[at] === "string" ? parts[at] : shown(parts[at]));
  if (written.length < MOST_WRITTEN) written += `${line}\n`.slice(0, max(0, MOST_WRITTEN - written.length));
};

const shown = (value) => {
  if (value instanceof ErrorHere) return `${value.name}: ${value.message}`;
  try {
    return stringify(value) ?? text(value);
  } catch {
    return text(value);
  }
};

const parts_of = (said) => {
  const content = [];
  if (written !== "") content[content.length] = { type: "text", text: `Written by the script:\n${written}` };
  if (said !== undefined) content[content.length] = { type: "text", text: said };
  return content;
};

/** An error, and its place in the script. */
const told = (error) => {
  const place = exec(/code\.js:\d+/, error.stack ?? "");
  return place === null ? shown(error) : `${shown(error)} (${place[0]})`;
};

const outcome_of = async (script) => {
  try {
    const value = await script(tools);
    // What is no JSON, as an object that contains itself, is an error that says so.
    return { content: parts_of(value === undefined || typeof value === "string" ? value : (stringify(value) ?? text(value))) };
  } catch (error) {
    // The engine throws null where memory does not suffice for an error.
    const said = error === null ? "out of memory" : error instanceof ErrorHere ? told(error) : shown(error);
    return { content: parts_of(said), isError: true };
  }
};

const answer = (id, result) => {
  try {
    send({ id, result });
  } catch (error) {
    // It is too long, or no JSON.
    send({ id, result: { content: [{ type: "text", text: text(error?.message) }], isError: true } });
  }
};

const settle = ({ id, result, error }) => {
  const waiting = open[id];
  if (waiting === undefined) return;
  delete open[id];
  ended++;
  begin();
  if (error) waiting.reject(text(error.message));
  else waiting.resolve(result);
};

/** Runs a script when it is called for. script: async (tools) => what is answered. */
export const run = async (script) => {
  for (const name of ["log", "info", "debug", "warn", "error"]) console[name] = write;
  // What the interpreter was started with is no business of a script.
  process = freeze({ env: freeze({}) });
  for (let line; (line = await readLine()) !== null; ) {
    if (line === "") continue;
    const message = parse(line);
    const { id, method } = message;
    if (method === undefined) settle(message);
    else if (method === "initialize") answer(id, { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "script", version: "1" } });
    else if (method === "tools/list") answer(id, { tools: [{ name: "run", inputSchema: { type: "object" } }] });
    else if (method === "tools/call") void outcome_of(script).then((result) => answer(id, result));
    else if (method === "ping") answer(id, {});
    else if (id !== undefined) send({ id, error: { code: -32601, message: `Method not found: ${method}` } });
  }
};
