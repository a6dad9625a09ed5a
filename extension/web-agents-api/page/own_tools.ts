// The page's own tools, for `agent`: by the names `page:HOST/TOOL`, wherever they are kept (registry.ts).
//
// Owns these names, and how a result of theirs becomes MCP's. Must never have one run twice: the browser takes its input as an object or, in
// older versions, as text, and it is offered both at once.

import { after, defineProperty, host, isAborted, isArray, parse, reasonOf, self_, startsWith, stringify, then } from "./builtins.ts";
import { ask } from "./channel.ts";
import { failure, invalid, memberOf, textOfError } from "./errors.ts";
import { add, mapped, placeOf, sequence } from "./lists.ts";
import { MOST_TOOLS } from "./model_context.ts";
import { registry } from "./registry.ts";
import { MAX_ARGS } from "../../shared/protocol/page.ts";

interface Descriptor {
  name: string;
  serverId: string;
  description?: string;
  inputSchema?: unknown;
}

type Fields = { [name: string]: unknown };

const SOURCE = `page:${host}`;

/** Whether a name is one of them. */
export const isOwn = (tool: unknown): tool is string => typeof tool === "string" && startsWith(tool, `${SOURCE}/`);

const nameOf = ({ name }: Fields): string => `${SOURCE}/${name}`;

/** The first of this document's tools; none where the browser lets this page have none. */
async function registered(): Promise<Fields[]> {
  const found: Fields[] = [];
  let all: unknown[] = [];
  try {
    all = sequence(await registry("getTools", [])) ?? [];
  } catch {
    return found;
  }
  for (let at = 0; at < all.length && found.length < MOST_TOOLS; at += 1) {
    const tool = all[at] as Fields;
    // Frames have their own, under the same names.
    if ((tool["window"] ?? self_) === self_) add(found, tool);
  }
  return found;
}

/** The same, as `agent.tools.list()` gives them. */
export async function ownTools(): Promise<Descriptor[]> {
  return mapped(await registered(), (one) => {
    // One by one: what the browser gives has nothing of its own that could be copied.
    const { description, inputSchema } = one;
    const tool: Descriptor = { name: nameOf(one), serverId: SOURCE };
    if (typeof description === "string" && description !== "") tool.description = description;
    const schema = parsed(inputSchema);
    if (typeof schema === "object" && schema !== null) tool.inputSchema = schema;
    return tool;
  });
}

/** What a run is told of those that it names, as JSON; `undefined`: it names none. */
export async function ownAmong(tools: unknown): Promise<string | undefined> {
  if (!isArray(tools) || placeOf(tools, isOwn) < 0) return undefined;
  if (placeOf(tools, (name) => !isOwn(name)) >= 0) throw invalid("a run has the person's tools or the page's own");
  const all = await ownTools();
  const isAll = placeOf(tools, (name) => name === `${SOURCE}/*`) >= 0;
  const found = isAll ? all : mapped(tools as string[], (wanted) => {
    const tool = all[placeOf(all, ({ name }) => name === wanted)];
    if (tool === undefined) throw failure("ERR_TOOL_NOT_FOUND", `the page has no tool ${wanted}`);
    return tool;
  });
  return stringify(mapped(found, ({ name, description = name, inputSchema = { type: "object" } }) => ({ name: after(name, SOURCE.length + 1), description, inputSchema })));
}

/** Runs a call of a run. What comes of it is said to whoever asked. */
export async function answerAsk({ ask: number, tool, args }: Fields, signal: AbortSignal): Promise<void> {
  let answer: string;
  try {
    answer = stringify({ result: await callOwn(`${SOURCE}/${tool}`, args as string, signal) });
    if (answer.length > MAX_ARGS) throw invalid(`a result has at most ${MAX_ARGS} characters as JSON`);
  } catch (error) {
    const [code, text] = [memberOf(error, "code"), textOfError(error)];
    answer = stringify(typeof code === "string" ? { error: { code, message: text } } : { result: { content: [{ type: "text", text }], isError: true } });
  }
  then(ask("run_answer", { ask: number, answer }), () => undefined, () => undefined);
}

/** Runs one; what it gives, as MCP's CallToolResult. `args`: a JSON object. */
export async function callOwn(tool: string, args: string, signal: AbortSignal | undefined): Promise<unknown> {
  if (signal !== undefined && isAborted(signal)) throw reasonOf(signal);
  const all = await registered();
  const found = all[placeOf(all, (one) => nameOf(one) === tool)];
  if (found === undefined) throw failure("ERR_TOOL_NOT_FOUND", "the page has no such tool");
  const input = parse(args) as object;
  // A browser that wants a text asks for one.
  defineProperty(input, "toString", { __proto__: null, value: () => args } as PropertyDescriptor);
  try {
    return resultOf(await registry("executeTool", [found, input, signal === undefined ? {} : { __proto__: null, signal }]));
  } catch (error) {
    if (signal !== undefined && isAborted(signal)) throw reasonOf(signal);
    // As a tool of the person's that fails.
    return { content: [{ type: "text", text: textOfError(error) }], isError: true };
  }
}

function resultOf(given: unknown): unknown {
  const value = parsed(given);
  if (typeof value === "string") return { content: [{ type: "text", text: value }] };
  if (isArray((value as Fields | null)?.["content"])) return value;
  const content = [{ type: "text", text: typeof given === "string" ? given : `${value}` }];
  return typeof value === "object" && value !== null && !isArray(value) ? { content, structuredContent: value } : { content };
}

/** What a text says as JSON; itself where it is none. */
function parsed(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return parse(value);
  } catch {
    return value;
  }
}
