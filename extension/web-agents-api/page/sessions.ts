// `agent.sessions`: what several runs share, as long as the page's tab is there.
//
// Owns how a page says it. Must never decide what a session may: the bridge does.

import { freeze, isObject } from "./builtins.ts";
import { ask } from "./channel.ts";
import { failure } from "./errors.ts";

interface Wish {
  name?: unknown;
  capabilities?: { llm?: { provider?: unknown; model?: unknown } | null; tools?: unknown; browser?: { length?: unknown } };
  limits?: { maxToolCalls?: unknown; ttlMinutes?: unknown };
  options?: { systemPrompt?: unknown; temperature?: unknown };
}

interface Summary {
  sessionId: string;
  capabilities: unknown;
}

async function create(wish: Wish | undefined): Promise<unknown> {
  const { name, capabilities, limits, options } = wish ?? {};
  const { llm, tools, browser: tabs } = capabilities ?? {};
  if (tabs !== undefined && tabs.length !== 0) throw failure("ERR_FEATURE_DISABLED", "sessions have no access to tabs in this version");
  const { maxToolCalls, ttlMinutes } = limits ?? {};
  const { systemPrompt, temperature } = options ?? {};
  // What is no object is refused where it is read.
  const model = { llm: isObject(llm) || llm, provider: llm?.provider, model: llm?.model };
  const made = (await ask("session_create", { name, ...model, tools, maxToolCalls, ttlMinutes, systemPrompt, temperature })) as Summary;
  return { success: true, sessionId: made.sessionId, capabilities: made.capabilities };
}

/** What there is of a session that may be gone; `none` where it is. */
async function unlessGone<T>(asked: Promise<unknown>, none: T): Promise<unknown> {
  try {
    return await asked;
  } catch (error) {
    if ((error as { code?: unknown }).code === "ERR_SESSION_NOT_FOUND") return none;
    throw error;
  }
}

async function terminate(sessionId: unknown): Promise<boolean> {
  return (await unlessGone(ask("session_end", { sessionId }), undefined)) !== undefined;
}

/** What pages find as `agent.sessions`. */
export const sessions = freeze({
  create: freeze((wish?: Wish) => create(wish)),
  get: freeze((sessionId: unknown) => unlessGone(ask("session_get", { sessionId }), null)),
  list: freeze(() => ask("session_list")),
  terminate: freeze((sessionId: unknown) => terminate(sessionId)),
});
