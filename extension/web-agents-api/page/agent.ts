// `window.agent`, in the world of the page.
//
// Owns the object that pages see. Must never use a built-in that is not its own copy, know more than the page may, or decide
// anything: the background does.

import { freeze, stringify } from "./builtins.ts";
import { callAlone, capabilities, listTools } from "./alone.ts";
import { browser } from "./in_tabs.ts";
import { ask } from "./channel.ts";
import { signalIn } from "./endings.ts";
import { attempt, invalid } from "./errors.ts";
import { isOwn } from "./own_tools.ts";
import { runOf } from "./run.ts";
import { sessions } from "./sessions.ts";
import { MAX_ARGS, MAX_DEPTH, isDeep } from "../../shared/protocol/page.ts";

/** Arguments as JSON: functions, cycles and what is too large never leave the page. */
function textOf(args: unknown): string {
  let text: string | undefined;
  try {
    text = stringify(args === undefined ? {} : args);
  } catch {
    throw invalid("args must be an object that JSON can hold: without cycles and BigInt, and not too deep");
  }
  if (text === undefined || text[0] !== "{") throw invalid("args must be an object");
  if (text.length > MAX_ARGS) throw invalid(`args can have at most ${MAX_ARGS} characters as JSON`);
  if (isDeep(text)) throw invalid(`args can be nested at most ${MAX_DEPTH} deep`);
  return text;
}

interface Call {
  tool?: unknown;
  args?: unknown;
  signal?: AbortSignal;
  onProgress?: unknown;
}

function callTool(call: Call | undefined): Promise<unknown> {
  return attempt(() => {
    const { tool, args, signal, onProgress } = call ?? {};
    if (isOwn(tool)) return callAlone(tool, textOf(args), signalIn({ signal }));
    return ask("call", { tool, args: textOf(args), progress: typeof onProgress === "function" }, { signal, onProgress });
  });
}

interface Wish {
  scopes?: unknown;
  reason?: unknown;
  tools?: unknown;
}

function requestPermissions(wish: Wish | undefined): Promise<unknown> {
  return attempt(() => {
    const { scopes, reason, tools } = wish ?? {};
    return ask("request_permissions", { scopes, reason, tools });
  });
}

/** What pages find as `window.agent`. */
export const agent = freeze({
  requestPermissions: freeze((wish?: Wish) => requestPermissions(wish)),
  permissions: freeze({ list: freeze(() => ask("permissions")) }),
  capabilities: freeze(() => capabilities()),
  tools: freeze({
    list: freeze(() => listTools()),
    call: freeze((call?: Call) => callTool(call)),
  }),
  run: freeze((options?: unknown) => runOf(options)),
  sessions,
  browser,
});
