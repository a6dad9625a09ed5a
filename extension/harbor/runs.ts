// Runs of pages, and their sessions: what the bridge is asked.
//
// Owns the forms in which pages hear of it. Questions about a run's calls are the bridge's (approvals.ts).

import type { NativeClient } from "../shared/native/client.ts";
import type { Context } from "../shared/ports/answerer.ts";
import type { After } from "../shared/ports/caller.ts";
import { isFields } from "../shared/ports/wire.ts";
import { CodedError, pageCode } from "../shared/protocol/codes.ts";
import type { Requests } from "../shared/protocol/generated/messages.ts";
import type { About, RunsRequest } from "../shared/protocol/peer.ts";
import { offIn } from "./off.ts";
import { hasModel } from "./page_models.ts";
import { streamed } from "./streaming.ts";

/** What this works with. */
export interface RunParts {
  bridge: Pick<NativeClient, "request">;
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
    ...{ origin, tab_id: tab, task },
    ...filled({ tools, provider, model, use_all_tools: useAllTools, max_tool_calls: maxToolCalls, require_citations: requireCitations, session_id: sessionId }),
  };
  let isTold = false;
  const chunk = (event: unknown): void => {
    isTold ||= isFields(event) && event["type"] === "final";
    context.chunk(eventForPage(event));
  };
  try {
    const answer = await streamed(parts.bridge, "run_start", fields, { ...context, chunk }, parts.after);
    const { run_id: runId, output, citations, usage } = answer;
    // All that came of it was its last event; one that is too large for an event is said by the answer alone.
    if (!isTold) chunk({ type: "final", runId, output, ...filled({ citations }), usage });
    return { runId };
  } finally {
    parts.acted();
  }
}

async function session({ bridge }: RunParts, request: Exclude<RunsRequest, Run>, signal: AbortSignal): Promise<unknown> {
  const asker = { origin: request.origin, tab_id: request.tab };
  switch (request.type) {
    case "session_create": {
      const { name, llm, provider, model, tools, systemPrompt, temperature, maxToolCalls, ttlMinutes } = request;
      const more = filled({ name, tools, provider, model, system_prompt: systemPrompt, temperature, max_tool_calls: maxToolCalls, ttl_minutes: ttlMinutes });
      return (await bridge.request("session_create", { ...asker, llm: llm === true, ...more }, { signal })).session;
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

/** What of the page API the bridge has for pages, and whether there is a model. */
export async function about(bridge: Pick<NativeClient, "request">): Promise<About> {
  const [active, off] = await Promise.all([bridge.request("llm_get_active", {}), offIn(bridge)]);
  return { model: hasModel(active), off };
}
