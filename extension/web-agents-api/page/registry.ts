// Where the tools of this page are kept: the browser's `document.modelContext` where it has one that takes, gives and runs them, else ours.
//
// Owns that choice, which is made once, and `harbor.modelContext`. Must never use both: a tool would be there twice.

import { CapturedAbortController, abort, apply, document_, freeze, signalOf } from "./builtins.ts";
import { add, mapped } from "./lists.ts";
import { context } from "./model_context.ts";

type Fields = { [name: string]: unknown };
type Method = "registerTool" | "getTools" | "executeTool";

const place = ((): { [method in Method]: unknown } => {
  try {
    const { modelContext } = document_ as unknown as { modelContext: Fields };
    const { registerTool, getTools, executeTool } = modelContext;
    if (typeof registerTool === "function" && typeof getTools === "function" && typeof executeTool === "function") return modelContext as never;
  } catch {
    // There is none, or whoever has put it there wants no tools to be found.
  }
  return context;
})();

/** Calls a method where the tools are; what it throws at once rejects, too. */
export const registry = async (method: Method, args: unknown[]): Promise<unknown> => await apply(place[method] as Function, place, args);

interface Added {
  tool: Fields;
  ending: AbortController;
}

/** Those that were added by the old names. */
let added: Added[] = [];

async function addTool({ name, description, inputSchema, handler: execute }: Fields): Promise<void> {
  const ending = new CapturedAbortController();
  const tool = { name, description, inputSchema };
  await registry("registerTool", [{ ...tool, execute }, { signal: signalOf(ending) }]);
  add(added, { tool, ending });
}

function removeTool(name: unknown): void {
  const others: Added[] = [];
  for (let at = 0; at < added.length; at += 1) {
    const one = added[at] as Added;
    if (one.tool["name"] === name) abort(one.ending);
    else add(others, one);
  }
  added = others;
}

/** What pages find as `harbor.modelContext`. */
export const modelContext = freeze({
  registerTool: freeze((...args: [tool?: unknown, options?: unknown]) => registry("registerTool", args)),
  getTools: freeze((...args: [options?: unknown]) => registry("getTools", args)),
  executeTool: freeze((...args: [tool?: unknown, input?: unknown, options?: unknown]) => registry("executeTool", args)),
  addTool: freeze((tool: Fields) => addTool(tool)),
  removeTool: freeze(removeTool),
  get tools() {
    return mapped(added, ({ tool }) => tool);
  },
});
