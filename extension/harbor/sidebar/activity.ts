// What sites, AI clients and the person did, read from lines of the audit log.
//
// Pure. A line is read with care: the person may have edited the file, and a newer bridge may write more. Must never claim
// an end that the line does not say.

import { isFields } from "../../shared/ports/wire.ts";
import { isScope } from "../../shared/protocol/peer.ts";
import { hostOf } from "./site.ts";
import { type Tone, count, scopeWords } from "./words.ts";

export interface Activity {
  at: number;
  /** On whose behalf; absent: the person's. */
  origin?: string;
  /** The tool, or what happened; a tool's name is its server's. */
  what: string;
  isTool: boolean;
  tone: Tone;
  /** How it ended. */
  ended: string;
  isCall: boolean;
  /** Whether it is about access that was given or has ended. */
  isGrant?: true;
}

type Line = { [name: string]: unknown };

const texts = (value: unknown): string[] => (Array.isArray(value) ? value.filter((one) => typeof one === "string") : []);
const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
const number = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);

/** The newest first. Lines that tell of something else are left out. */
export function activitiesOf(records: unknown): Activity[] {
  if (!Array.isArray(records)) return [];
  return records.filter(isFields).flatMap((line) => activityOf(line) ?? []).reverse();
}

export function activityOf(line: Line): Activity | undefined {
  const at = number(line["timestamp"]);
  const read = at === undefined ? undefined : READERS[text(line["event"]) ?? ""]?.(line);
  if (at === undefined || read === undefined) return undefined;
  const origin = text(line["origin"]) ?? clientOf(line);
  const many = number(line["count"]);
  const ended = many === undefined ? read.ended : `${read.ended}, ${many} times`;
  return { at, ...(origin === undefined ? {} : { origin }), isTool: false, isCall: false, ...read, ended };
}

const clientOf = ({ by }: Line) => (text(by)?.startsWith("client://") ? text(by) : undefined);

type Read = Pick<Activity, "what" | "tone" | "ended"> & Partial<Activity>;

const READERS: { [event: string]: (line: Line) => Read | undefined } = {
  call: (line) => ({ what: toolOf(line), isTool: true, isCall: true, ...callEnd(line) }),
  refused: (line) => ({ what: toolOf(line) || scopeOf(line), isTool: line["tool"] !== undefined, tone: "warn", ended: refusedWords(text(line["code"])) }),
  consent: (line) => ({ what: `Asked for ${toolsWords(texts(line["asked_tools"]))}`, ...consentEnd(text(line["outcome"])) }),
  chat: (line) => ({ what: `Asked the model ${text(line["model"]) ?? ""}`.trim(), isCall: false, ...chatEnd(line) }),
  page_act: (line) => ({ what: `Used its tabs: ${text(line["tool"]) ?? ""}`, tone: "good", ended: "allowed" }),
  grant: (line) => ({ what: grantHead(line), tone: "idle", ended: grantWords(line), isGrant: true }),
  approvals_revoke: () => ({ what: "Answers about calls revoked", tone: "idle", ended: "by you", isGrant: true }),
  revoke: () => ({ what: "Access revoked", tone: "idle", ended: "by you", isGrant: true }),
  expire: () => ({ what: "Access ended", tone: "idle", ended: "its time was over", isGrant: true }),
};

function toolOf({ server, tool }: Line): string {
  const [of, name] = [text(server), text(tool)];
  return of === undefined || name === undefined ? (name ?? of ?? "") : `${of}/${name}`;
}

function scopeOf({ scope }: Line): string {
  return text(scope) === "mcp:tools.list" ? "Asked for the list of tools" : "A request";
}

function callEnd(line: Line): Pick<Activity, "tone" | "ended"> {
  const code = text(line["code"]);
  if (line["decision"] === "denied") return { tone: "warn", ended: refusedWords(code) };
  if (code === undefined && toldError(line)) return { tone: "bad", ended: `the tool reported an error after ${msWords(number(line["duration_ms"]))}` };
  if (code === undefined) return { tone: "good", ended: `answered in ${msWords(number(line["duration_ms"]))}` };
  if (code === "cancelled") return { tone: "idle", ended: "cancelled" };
  return { tone: "bad", ended: CALL_ENDS[code] ?? `failed (${code})` };
}

/** Whether the tool's answer says that it failed. A bridge that is older does not say. */
const toldError = ({ tool_error: told }: Line & { tool_error?: unknown }): boolean => told === true;

const CALL_ENDS: { [code: string]: string } = {
  ERR_TOOL_TIMEOUT: "timed out",
  ERR_TOOL_FAILED: "the tool failed",
  ERR_SERVER_UNAVAILABLE: "the server was not there",
  ERR_TOOL_NOT_FOUND: "no such tool",
  ERR_PROTOCOL_ERROR: "the answer was broken",
  ERR_CANCELLED: "cancelled",
  invalid_params: "wrong arguments",
};

function refusedWords(code: string | undefined): string {
  if (code === "ERR_SCOPE_REQUIRED") return "refused: not allowed";
  if (code === "ERR_TOOL_NOT_ALLOWED") return "refused: tool not allowed";
  if (code === "ERR_PERMISSION_DENIED") return "refused: blocked by you";
  if (code === "ERR_RATE_LIMITED") return "refused: too many calls";
  if (code === "ERR_BUDGET_EXCEEDED") return "refused: budget used up";
  return "refused";
}

function consentEnd(outcome: string | undefined): Pick<Activity, "tone" | "ended"> {
  if (outcome === "allowed") return { tone: "good", ended: "you allowed it" };
  if (outcome === "dismissed") return { tone: "idle", ended: "you closed the question" };
  return { tone: "warn", ended: "you didn't allow it" };
}

function chatEnd(line: Line): Pick<Activity, "tone" | "ended"> {
  const code = text(line["code"]);
  if (code === "cancelled") return { tone: "idle", ended: "cancelled" };
  if (code !== undefined) return { tone: "bad", ended: `failed (${code})` };
  const tokens = (number(line["input_tokens"]) ?? 0) + (number(line["output_tokens"]) ?? 0);
  return { tone: "good", ended: `answered, ${count(tokens, "token")}` };
}

const OF_MODELS: { [scope: string]: [string, string] } = {
  "model:prompt": ["Allowed to use your language model", "Blocked from your language model"],
  "model:tools": ["Allowed to have a model do tasks with tools", "Blocked from having a model do tasks"],
  "model:list": ["Allowed to see your language models", "Blocked from seeing your language models"],
};

const USE = "mcp:tools.call";

const OF_TOOLS: { [scope: string]: [string, string] } = {
  "mcp:tools.list": ["Allowed to see", "Blocked from seeing tools"],
  [USE]: ["Allowed to use", "Blocked"],
};

function grantHead({ grant_type, scope, allowed_tools: tools }: Line): string {
  const name = text(scope) ?? USE;
  const at = grant_type === "DENY" ? 1 : 0;
  const ofModels = OF_MODELS[name]?.[at];
  if (ofModels !== undefined) return ofModels;
  const ofTools = OF_TOOLS[name]?.[at];
  if (ofTools === undefined) return `${at === 1 ? "Blocked" : "Allowed"}: ${scopeWords(name)}`;
  if (at === 1) return ofTools;
  return `${ofTools} ${isEmpty(tools) ? "no tools" : "tools"}`;
}

const isEmpty = (list: unknown): boolean => Array.isArray(list) && list.length === 0;

function grantWords(line: Line): string {
  if (line["grant_type"] === "DENY") return "until you unblock it";
  const how = line["grant_type"] === "ALLOW_ALWAYS" ? "always" : "for a limited time";
  const scope = text(line["scope"]) ?? USE;
  if (scope in OF_MODELS) return how;
  if (!(scope in OF_TOOLS)) return isScope(scope) ? how : `${how}, and gives nothing`;
  if (isEmpty(line["allowed_tools"])) return how;
  const tools = line["allowed_tools"] === undefined ? "all tools" : toolsWords(texts(line["allowed_tools"]));
  return `${tools}, ${how}`;
}

/** How many permissions that are not of tools or models stand by their names. */
const MOST_NAMED = 2;

function toolsWords(asked: string[]): string {
  const isOther = (one: string) => isScope(one) && !(one in OF_MODELS);
  const others = asked.filter(isOther);
  if (others.length > 0) {
    const rest = asked.filter((one) => !isOther(one));
    const said = others.length > MOST_NAMED ? count(others.length, "permission") : others.map((one) => `“${scopeWords(one)}”`).join(" and ");
    return rest.length === 0 ? said : `${said} and ${toolsWords(rest)}`;
  }
  const [models, tools] = [asked.filter((one) => one in OF_MODELS), asked.filter((one) => !(one in OF_MODELS))];
  if (models.length > 0) return tools.length === 0 ? "your language model" : `your language model and ${toolsWords(tools)}`;
  const whole = tools.filter((tool) => tool.endsWith("/*"));
  if (tools.length === 0) return "your tools";
  if (whole.length === tools.length) return `all tools of ${whole.length === 1 ? (whole[0] ?? "").slice(0, -2) : count(whole.length, "server")}`;
  return tools.length === 1 ? (tools[0] ?? "") : count(tools.length, "tool");
}

function msWords(ms: number | undefined): string {
  if (ms === undefined) return "an unknown time";
  if (ms < 1_000) return `${Math.max(1, Math.round(ms))} ms`;
  return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
}

/** Who it was, for a person. */
export function whoWords({ origin }: Pick<Activity, "origin">): string {
  return origin === undefined ? "You" : hostOf(origin);
}

/** How many calls one has made since this time. */
export function callsSince(activities: Activity[], origin: string, since: number): number {
  return activities.filter((one) => one.isCall && one.origin === origin && one.at >= since).length;
}
