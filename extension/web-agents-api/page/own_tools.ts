// The page's own tools, as the browser's `document.modelContext` has them: what `agent.tools` is where Harbor is not there.
//
// Owns their names, `page:HOST/TOOL`, and how a result of theirs becomes MCP's. Must never have one run twice: the browser takes its input
// as an object or, in older versions, as text, and it is offered both at once.

import { apply, defineProperty, host, isAborted, isArray, native, parse, reasonOf, self_, startsWith } from "./builtins.ts";
import { failure } from "./errors.ts";
import { add, placeOf, sequence } from "./lists.ts";

interface Descriptor {
  name: string;
  serverId: string;
  description?: string;
  inputSchema?: unknown;
}

type Fields = { [name: string]: unknown };

const SOURCE = `page:${host}`;

const context = native.tools as { getTools?: unknown; executeTool?: unknown } | undefined;

/** Whether the browser keeps tools of pages. */
export const hasOwnTools = typeof context?.getTools === "function" && typeof context.executeTool === "function";

/** Whether a name is one of them. */
export const isOwn = (tool: unknown): tool is string => hasOwnTools && typeof tool === "string" && startsWith(tool, `${SOURCE}/`);

/** The tools of this document, as the browser has them; none where it lets this page have none. */
async function registered(): Promise<Fields[]> {
  const found: Fields[] = [];
  let all: unknown[] = [];
  try {
    all = sequence(await apply(context?.getTools as Function, context, [])) ?? [];
  } catch {
    return found;
  }
  for (let at = 0; at < all.length; at += 1) {
    const tool = all[at] as Fields;
    if (tool["window"] === undefined || tool["window"] === self_) add(found, tool);
  }
  return found;
}

/** The same, as `agent.tools.list()` gives them. */
export async function ownTools(): Promise<Descriptor[]> {
  const all = await registered();
  const found: Descriptor[] = [];
  for (let at = 0; at < all.length; at += 1) {
    // One by one: what the browser gives has nothing of its own that could be copied.
    const { name, description, inputSchema } = all[at] as Fields;
    const tool: Descriptor = { name: `${SOURCE}/${name}`, serverId: SOURCE };
    if (typeof description === "string" && description !== "") tool.description = description;
    if (inputSchema !== undefined && inputSchema !== "") tool.inputSchema = parsed(inputSchema);
    add(found, tool);
  }
  return found;
}

/** Runs one; what it gives, as MCP's CallToolResult. `args`: a JSON object. */
export async function callOwn(tool: string, args: string, signal: AbortSignal | undefined): Promise<unknown> {
  if (signal !== undefined && isAborted(signal)) throw reasonOf(signal);
  const all = await registered();
  const at = placeOf(all, ({ name }) => `${SOURCE}/${name}` === tool);
  if (at < 0) throw failure("ERR_TOOL_NOT_FOUND", "the page has no such tool");
  const input = parse(args) as object;
  // A browser that wants a text asks for one.
  defineProperty(input, "toString", { __proto__: null, value: () => args } as PropertyDescriptor);
  try {
    return resultOf(await apply(context?.executeTool as Function, context, [all[at], input, signal === undefined ? {} : { __proto__: null, signal }]));
  } catch (error) {
    if (signal !== undefined && isAborted(signal)) throw reasonOf(signal);
    // As a tool of the person's that fails.
    return { content: [{ type: "text", text: `${(error as { message?: unknown } | null)?.message ?? error}` }], isError: true };
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
