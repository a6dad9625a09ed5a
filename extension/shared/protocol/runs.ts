// What a page says of a run and of its sessions, and how that is read.
//
// Owns these forms. Must never let a field through that was not looked at. What they mean is the bridge's.

import { isFields } from "../ports/wire.ts";
import type { Fields } from "../ports/wire.ts";
import { CodedError } from "./codes.ts";
import { MAX_ARGS, MAX_TASK, isDeep } from "./page.ts";

export interface RunWish {
  task: string;
  tools?: string[];
  provider?: string;
  model?: string;
  useAllTools?: boolean;
  requireCitations?: boolean;
  maxToolCalls?: number;
  sessionId?: string;
}

/** A tool of the page's own, as the model is told of it. */
export interface OwnTool {
  name: string;
  description: string;
  inputSchema: Fields;
}

/** What became of a call that the page was asked to run: MCP's CallToolResult, or why there is none. */
export interface RunAnswer {
  ask: number;
  result?: Fields;
  error?: { code: string; message: string };
}

export interface SessionWish {
  name?: string;
  /** Absent: it may ask no model. */
  llm?: true;
  provider?: string;
  model?: string;
  tools?: string[];
  systemPrompt?: string;
  temperature?: number;
  maxToolCalls?: number;
  ttlMinutes?: number;
}

const MOST_TOOLS = 1_000;
const LONGEST_NAME = 1_000;

/** How many tools of its own a page has at most. */
export const MOST_OWN = 64;

/** Reads a run, as it came from the page; throws ERR_INVALID_REQUEST. */
export function parseRun(fields: Fields): RunWish {
  const { task } = fields;
  if (typeof task !== "string" || task.trim() === "" || task.length > MAX_TASK) throw wrong("task", `a text of at most ${MAX_TASK} characters`);
  return {
    task,
    ...given("tools", tools(fields["tools"], "tools")),
    ...given("provider", text(fields["provider"], "provider")),
    ...given("model", text(fields["model"], "model")),
    ...given("useAllTools", flag(fields["useAllTools"], "useAllTools")),
    ...given("requireCitations", flag(fields["requireCitations"], "requireCitations")),
    ...given("maxToolCalls", whole(fields["maxToolCalls"], "maxToolCalls", 0)),
    ...given("sessionId", text(fields["sessionId"], "sessionId")),
  };
}

/** The JSON that a page sends of its own tools, or of a result; bounded, and not read yet. */
export function parseJson(value: unknown, field: string): string {
  if (typeof value !== "string" || value.length > MAX_ARGS || isDeep(value)) throw wrong(field, `JSON of at most ${MAX_ARGS} characters, not too deep`);
  return value;
}

/** The page's own tools for a run. */
export function parseOwn(json: unknown): OwnTool[] {
  const all = read(parseJson(json, "tools"));
  const isOne = (one: unknown): one is OwnTool => isFields(one) && typeof one["name"] === "string" && /^[\w.-]{1,128}$/.test(one["name"]) && typeof one["description"] === "string" && isFields(one["inputSchema"]);
  if (!Array.isArray(all) || all.length === 0 || all.length > MOST_OWN || !all.every(isOne)) throw wrong("tools", `1 to ${MOST_OWN} tools with a name, a description and a schema`);
  return all.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
}

/** What a page answers to a call that it was asked to run. */
export function parseAnswer({ ask, answer }: Fields): RunAnswer {
  const { result, error } = (read(parseJson(answer, "answer")) ?? {}) as Fields;
  if (typeof ask !== "number") throw wrong("ask", "a number");
  if (isFields(error)) return { ask, error: { code: `${error["code"]}`.slice(0, 100), message: `${error["message"]}` } };
  if (!isFields(result)) throw wrong("answer", "a result");
  return { ask, result };
}

function read(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** The same of a session. */
export function parseSession(fields: Fields): SessionWish {
  const { llm, temperature } = fields;
  if (llm !== undefined && llm !== true) throw wrong("capabilities.llm", "an object");
  if (temperature !== undefined && (typeof temperature !== "number" || !(temperature >= 0 && temperature <= 2))) throw wrong("options.temperature", "a number from 0 to 2");
  return {
    ...given("name", text(fields["name"], "name")),
    ...given("llm", llm),
    ...given("provider", text(fields["provider"], "provider")),
    ...given("model", text(fields["model"], "model")),
    ...given("tools", tools(fields["tools"], "capabilities.tools")),
    ...given("systemPrompt", text(fields["systemPrompt"], "options.systemPrompt", MAX_TASK)),
    ...given("temperature", temperature),
    ...given("maxToolCalls", whole(fields["maxToolCalls"], "limits.maxToolCalls", 1)),
    ...given("ttlMinutes", whole(fields["ttlMinutes"], "limits.ttlMinutes", 1)),
  };
}

/** Which session is meant. */
export function parseSessionId(fields: Fields): { sessionId: string } {
  const sessionId = text(fields["sessionId"], "sessionId");
  if (sessionId === undefined) throw wrong("sessionId", "a text");
  return { sessionId };
}

/** A field where there is something. */
function given<N extends string, T>(name: N, value: T | undefined): { [name in N]?: T } {
  return value === undefined ? {} : ({ [name]: value } as { [name in N]: T });
}

function text(value: unknown, field: string, most = LONGEST_NAME): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "string" || value.length > most) throw wrong(field, `a text of at most ${most} characters`);
  return value;
}

function flag(value: unknown, field: string): boolean | undefined {
  if (value !== undefined && typeof value !== "boolean") throw wrong(field, "true or false");
  return value;
}

function whole(value: unknown, field: string, least: number): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "number" || !Number.isInteger(value) || value < least) throw wrong(field, `a whole number, at least ${least}`);
  return Math.min(value, 0xffffffff);
}

function tools(value: unknown, field: string): string[] | undefined {
  if (value === undefined) return undefined;
  const isName = (one: unknown) => typeof one === "string" && one.length <= LONGEST_NAME;
  if (!Array.isArray(value) || value.length > MOST_TOOLS || !value.every(isName)) throw wrong(field, "an array of names, SERVER/TOOL");
  return [...value];
}

/** What is said of it. */
export function wrong(field: string, expected: string): CodedError {
  return new CodedError("ERR_INVALID_REQUEST", `${field} must be ${expected}`);
}
