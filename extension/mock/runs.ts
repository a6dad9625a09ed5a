// Runs of the mock, and their sessions.
//
//   model ─► text, or calls ─► tools ─► model … ─► final
//
// Owns the order of events. Must never use a tool that the page may not have used.

import type { CallOptions } from "../shared/ports/caller.ts";
import { CodedError } from "../shared/protocol/codes.ts";
import type { RunWish, SessionWish } from "../shared/protocol/runs.ts";
import type { MockScript, MockTold } from "../types/mock.d.ts";
import { asked, codedOf, promptOf } from "./model.ts";
import { called, textOf } from "./tools.ts";

const MOST_CALLS = 5;

interface Session {
  summary: { sessionId: string; status: string; lastActiveAt: number; usage: { promptCount: number; toolCallCount: number; tokensUsed: number }; [name: string]: unknown };
  messages: MockTold["messages"];
  tools: string[] | undefined;
}

interface Citation {
  source: string;
  ref: string;
  excerpt: string;
}

export class Runs {
  readonly #sessions = new Map<string, Session>();

  /** A task. `tools`: those that it may use. */
  async run(script: MockScript, wish: RunWish, tools: string[], { signal = new AbortController().signal, onChunk = () => undefined }: CallOptions): Promise<{ runId: string }> {
    const session = wish.sessionId === undefined ? undefined : this.#of(wish.sessionId);
    const runId = crypto.randomUUID();
    const tell = (event: object) => onChunk({ runId, ...event });
    const messages: MockTold["messages"] = [...(session?.messages ?? []), { role: "user", content: wish.task }];
    const own = session?.tools;
    const usable = own === undefined ? tools : tools.filter((tool) => own.includes(tool));
    const cited: Citation[] = [];
    tell({ type: "status", message: "asks the model" });
    try {
      const output = await work({ script, messages, usable, most: wish.maxToolCalls ?? MOST_CALLS, signal, tell, cited });
      if (session !== undefined) after(session, messages, cited.length);
      tell({ type: "final", output, ...(wish.requireCitations === true ? { citations: cited } : {}) });
    } catch (error) {
      signal.throwIfAborted();
      const { code, message } = codedOf(error, "ERR_INTERNAL");
      tell({ type: "error", error: { code, message, retryable: false } });
    }
    return { runId };
  }

  create(origin: string, { name, llm, tools, maxToolCalls, ttlMinutes = 30, systemPrompt }: SessionWish): Session["summary"] {
    const now = Date.now();
    const sessionId = crypto.randomUUID();
    const summary = {
      ...{ sessionId, type: "explicit", origin, status: "active", createdAt: now, lastActiveAt: now, expiresAt: now + ttlMinutes * 60_000 },
      ...(name === undefined ? {} : { name }),
      capabilities: { hasLLM: llm !== undefined, toolCount: tools?.length ?? 0, hasBrowserAccess: false },
      ...(maxToolCalls === undefined ? {} : { maxToolCalls }),
      usage: { promptCount: 0, toolCallCount: 0, tokensUsed: 0 },
    };
    this.#sessions.set(sessionId, { summary, messages: systemPrompt === undefined ? [] : [{ role: "system", content: systemPrompt }], tools });
    return summary;
  }

  get(sessionId: string): Session["summary"] {
    return this.#of(sessionId).summary;
  }

  list(): Session["summary"][] {
    return [...this.#sessions.values()].map(({ summary }) => summary);
  }

  end(sessionId: string): Session["summary"] {
    const { summary } = this.#of(sessionId);
    this.#sessions.delete(sessionId);
    return { ...summary, status: "terminated" };
  }

  #of(sessionId: string): Session {
    const found = this.#sessions.get(sessionId);
    if (found === undefined) throw new CodedError("ERR_SESSION_NOT_FOUND", "there is no such session");
    return found;
  }
}

function after({ summary, messages }: Session, said: MockTold["messages"], calls: number): void {
  messages.splice(0, messages.length, ...said);
  summary.lastActiveAt = Date.now();
  summary.usage.promptCount += 1;
  summary.usage.toolCallCount += calls;
}

interface Work {
  script: MockScript;
  messages: MockTold["messages"];
  usable: string[];
  most: number;
  signal: AbortSignal;
  tell(event: object): void;
  cited: Citation[];
}

/** Asks the model until it calls nothing any more; its last words. */
async function work({ script, messages, usable, most, signal, tell, cited }: Work): Promise<string> {
  for (let left = most; ; ) {
    const tools = left <= 0 ? [] : usable.map((name) => ({ name, ...described(script, name) }));
    const told = { prompt: promptOf(messages), messages: [...messages], tools, signal };
    const { text, calls } = await asked(script, told, (token) => tell({ type: "token", token }));
    messages.push({ role: "assistant", content: text, ...(calls.length > 0 ? { toolCalls: calls } : {}) });
    if (calls.length === 0 || left <= 0) return text;
    for (const { id: callId, name: tool, arguments: args } of calls) {
      left -= 1;
      tell({ type: "tool_call", callId, tool, args });
      const result = await resultOf(script, tool, args, usable, signal);
      tell({ type: "tool_result", callId, tool, ...("code" in result ? { error: result } : { result }) });
      const content = "code" in result ? String((result as { message?: unknown }).message) : textOf(result);
      messages.push({ role: "tool", toolCallId: callId, content, ...("code" in result ? { isError: true } : {}) });
      cited.push({ source: tool, ref: callId, excerpt: content.slice(0, 200) });
    }
  }
}

/** What a call came to, as its error where it came to nothing. */
async function resultOf(script: MockScript, tool: string, args: object, usable: string[], signal: AbortSignal): Promise<object> {
  try {
    if (!usable.includes(tool)) throw new CodedError("ERR_TOOL_NOT_ALLOWED", `${tool} is not allowed in this run`);
    return await called(script, tool, args, { signal, progress: () => undefined });
  } catch (error) {
    signal.throwIfAborted();
    const { code, message } = codedOf(error, "ERR_INTERNAL");
    return { code, message };
  }
}

function described({ tools = {} }: MockScript, name: string): { description?: string; inputSchema?: object } {
  const { description, inputSchema } = tools[name] ?? {};
  return { ...(description === undefined ? {} : { description }), ...(inputSchema === undefined ? {} : { inputSchema }) };
}
