// The person's tools of the mock.
//
// Owns how a script's result becomes MCP's. Must never call one that the page may not.

import { CodedError } from "../shared/protocol/codes.ts";
import { isFields } from "../shared/ports/wire.ts";
import type { Progress } from "../types/index.d.ts";
import type { MockScript } from "../types/mock.d.ts";
import { codedOf } from "./model.ts";

/** What a call needs besides its arguments. */
export interface Around {
  signal: AbortSignal;
  progress(progress: Progress): void;
}

/** Calls it. */
export async function called({ tools = {} }: MockScript, name: string, args: object, around: Around): Promise<object> {
  const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
  if (tool === undefined) throw new CodedError("ERR_TOOL_NOT_FOUND", `${name} is not in the mock's script`);
  try {
    return resultOf(await tool.call(args, around));
  } catch (error) {
    around.signal.throwIfAborted();
    const { code, message } = codedOf(error, "");
    if (code !== "") throw codedOf(error, code);
    return { content: [{ type: "text", text: message }], isError: true };
  }
}

function resultOf(given: unknown): object {
  if (isFields(given) && Array.isArray(given["content"])) return given;
  const text = typeof given === "string" ? given : JSON.stringify(given ?? null);
  return { content: [{ type: "text", text }], ...(isFields(given) ? { structuredContent: given } : {}) };
}

/** A result's text, for a model. */
export const textOf = (result: object): string => ((result as { content?: { text?: string }[] }).content ?? []).map(({ text }) => text ?? "").join("\n");
