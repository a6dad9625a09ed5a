// Runs of pages, and their sessions: what the bridge is asked, and what the person is asked about a run's calls.
//
// Owns the forms in which pages hear of it. Must never answer a question of a run: the person does, or nobody.

import type { NativeClient } from "../shared/native/client.ts";
import type { Context } from "../shared/ports/answerer.ts";
import type { After } from "../shared/ports/caller.ts";
import { isFields } from "../shared/ports/wire.ts";
import { CodedError, pageCode } from "../shared/protocol/codes.ts";
import type { Pushes, Requests } from "../shared/protocol/generated/messages.ts";
import type { About, RunsRequest } from "../shared/protocol/peer.ts";
import type { Asking } from "./asking.ts";
import { outcomeOf } from "./grants.ts";
import { offIn } from "./off.ts";
import { hasModel } from "./page_models.ts";
import { streamed } from "./streaming.ts";

/** What this works with. */
export interface RunParts {
  bridge: Pick<NativeClient, "request">;
  asking: Pick<Asking, "confirm">;
  after: After;
  acted(): void;
}

type Run = Extract<RunsRequest, { type: "run" }>;

/** Answers what concerns runs. */
export async function runs(parts: RunParts, request: RunsRequest, context: Context): Promise<unknown> {
  try {
    if (request.type === "run") return await run(parts, request, context);
    return await session(parts, request, context.signal);
  } catch (error) {
    if (error instanceof CodedError && error.code === "not_found") throw new CodedError("ERR_SESSION_NOT_FOUND", error.message);
    throw error;
  }
}

async function run(parts: RunParts, request: Run, context: Context): Promise<unknown> {
  const { origin, tab, task, tools, useAllTools, provider, model, maxToolCalls, requireCitations, sessionId } = request;
  const fields: Requests["run_start"] = {
    ...{ origin, tab_id: tab, task, asks: true },
    ...filled({ tools, provider, model, use_all_tools: useAllTools, max_tool_calls: maxToolCalls, require_citations: requireCitations, session_id: sessionId }),
  };
  const questions = new Questions(parts, origin);
  let isTold = false;
  const chunk = (event: unknown): void => {
    isTold ||= isFields(event) && event["type"] === "final";
    context.chunk(eventForPage(event));
  };
  try {
    const answer = await streamed(parts.bridge, "run_start", fields, { ...context, chunk }, parts.after, { onQuestion: (question) => questions.heard(question) });
    const { run_id: runId, output, citations, usage } = answer;
    // All that came of it was its last event; one that is too large for an event is said by the answer alone.
    if (!isTold) chunk({ type: "final", runId, output, ...filled({ citations }), usage });
    return { runId };
  } finally {
    questions.end();
    parts.acted();
  }
}

async function session({ bridge }: RunParts, request: Exclude<RunsRequest, Run>, signal: AbortSignal): Promise<unknown> {
  const asker = { origin: request.origin, tab_id: request.tab };
  switch (request.type) {
    case "session_create": {
      const { name, llm, tools, systemPrompt, temperature, maxToolCalls, ttlMinutes } = request;
      const more = filled({ name, tools, ...llm, system_prompt: systemPrompt, temperature, max_tool_calls: maxToolCalls, ttl_minutes: ttlMinutes });
      return (await bridge.request("session_create", { ...asker, llm: llm !== undefined, ...more }, { signal })).session;
    }
    case "session_get":
      return (await bridge.request("session_get", { ...asker, session_id: request.sessionId }, { signal })).session;
    case "session_list":
      return (await bridge.request("session_list", asker, { signal })).sessions;
    case "session_end":
      return (await bridge.request("session_end", { ...asker, session_id: request.sessionId }, { signal })).session;
  }
}

/** Without the fields in which there is nothing. */
function filled<T extends object>(fields: T): { [N in keyof T]?: Exclude<T[N], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

/** An event as a page hears it: with codes that are meant for pages. */
function eventForPage(event: unknown): unknown {
  if (!isFields(event) || !isFields(event["error"])) return event;
  const { error } = event;
  return { ...event, error: { ...error, code: pageCode(String(error["code"])) } };
}

/** The questions of one run. */
class Questions {
  readonly #parts: RunParts;
  readonly #origin: string;
  readonly #open = new Map<string, AbortController>();

  constructor(parts: RunParts, origin: string) {
    this.#parts = parts;
    this.#origin = origin;
  }

  heard(question: Pushes["run_question"]): void {
    const { approval_id: id, waits } = question;
    if (waits) void this.#ask(question);
    else this.#open.get(id)?.abort();
  }

  /** The run is over: nobody waits for any answer. */
  end(): void {
    for (const controller of this.#open.values()) controller.abort();
  }

  async #ask({ approval_id, run_id, tool, arguments: args, why, leaves }: Pushes["run_question"]): Promise<void> {
    const controller = new AbortController();
    this.#open.set(approval_id, controller);
    const call = { tool, args: JSON.stringify(args), why, ...(leaves === undefined ? {} : { leaves }) };
    const view = { origin: this.#origin, scopes: [], servers: [], named: false, call };
    try {
      const decision = await this.#parts.asking.confirm(view, controller.signal);
      const isAllowed = decision !== "refused" && decision.allow !== "no";
      await this.#parts.bridge.request("run_decide", { run_id, approval_id, decision: isAllowed ? "once" : "no" });
      if (decision !== "refused") await this.#note(tool, outcomeOf(decision));
    } catch (error) {
      // Where it was taken back, or the bridge is gone, the call is not made.
      if (!controller.signal.aborted) console.error("a question of a run has no answer", error);
    } finally {
      this.#open.delete(approval_id);
    }
  }

  async #note(tool: string, outcome: string): Promise<void> {
    await this.#parts.bridge.request("host_note_consent", { origin: this.#origin, outcome, tools: [tool] });
  }
}

/** What of the page API the bridge has for pages, and whether there is a model. */
export async function about(bridge: Pick<NativeClient, "request">): Promise<About> {
  const [active, off] = await Promise.all([bridge.request("llm_get_active", {}), offIn(bridge)]);
  return { model: hasModel(active), off };
}
