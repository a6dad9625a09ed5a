// What `web-agents-api` may ask of `harbor`, and how that is read: this list and nothing else.
//
// Owns the names and forms of these requests, scopes, and answers. Must never let a field through that was not looked at.
// Cancelling is the port's own: shared/ports/wire.ts.

import type { Fields } from "../ports/wire.ts";
import { isPageOrigin } from "../origins/origin.ts";
import { isContainer } from "../origins/profile.ts";
import { BROWSER_SCOPES, type BrowserWish, parseBrowser } from "./in_tabs.ts";
import { CodedError } from "./codes.ts";
import type { ToolDescriptor } from "./generated/messages.ts";
import { type RunWish, type SessionWish, parseRun, parseSession, parseSessionId } from "./runs.ts";
import { MAX_ARGS, MAX_DEPTH, MAX_PROMPT, isDeep, isTooLarge } from "./page.ts";

/** The name of the port. */
export const PEER_PORT = "web-agents-api";

/** Pushed to `web-agents-api` while it is connected, as `bridge`: how the connection to the bridge is. */
export interface BridgeView {
  state: "idle" | "connecting" | "ready" | "waiting" | "failed";
  /** Why there is none, and what to do. */
  message?: string;
}

/** What `harbor` tells `web-agents-api` unasked, connected or not: the origins that have a grant now. */
export interface GrantsMessage {
  push: "grants";
  origins: string[];
}

/** What a page can be allowed in this version. */
export const SCOPES = ["mcp:tools.list", "mcp:tools.call", "mcp:server.connect", "model:prompt", "model:tools", "model:list", ...BROWSER_SCOPES] as const;
export type Scope = (typeof SCOPES)[number];

/** Whether there is such a scope. Pages ask for others, too: some are of other versions, some of nobody. */
export const isScope = (name: string): name is Scope => SCOPES.some((scope) => scope === name);

/** Whether what this allows is limited to tools. */
export const isOfTools = (scope: Scope): boolean => scope === "mcp:tools.list" || scope === "mcp:tools.call";

/** Whether it is about models. */
export const isOfModels = (scope: Scope): boolean => scope.startsWith("model:");

/** How a page learns what it may. unavailable: granted, and the browser does not let Harbor do it; or asked for, and nothing to be had now. */
export type GrantWord = "granted-once" | "granted-always" | "denied" | "not-granted" | "unavailable";

/** The document that asks. */
export interface Asker {
  origin: string;
  tab: number;
  /** The profile of the browser that it is in; absent: the default one. */
  profile?: string;
}

/** What a page asks to be allowed, as it came from the page. */
export interface PageWish {
  /** Names, of which each may be one of a scope or not. */
  scopes: string[];
  reason?: string;
  /** `server/tool` or `server/*`. */
  tools?: string[];
}

export interface PermissionsRequest extends Asker, PageWish {
  /** The document's id. After three denials, only another document may ask. */
  document: string;
  /** Which of the person's clicks and keys in it this follows: each opens one question at most. 0: none. */
  gesture: number;
  scopes: Scope[];
}

export interface CallRequest extends Asker {
  tool: string;
  /** A JSON object as text. */
  args: string;
  progress: boolean;
}

export interface PromptRequest extends Asker {
  /** What is asked of a model: a JSON object as text, of which PROMPT_FIELDS go on. */
  body: string;
  /** True if the page gets the answer piece by piece. */
  stream: boolean;
}

/** How a page stands to models, in the standard's words. */
export interface ModelState {
  state: "unavailable" | "downloadable" | "downloading" | "available";
  /** Why it is unavailable: the person has said no. */
  denied?: boolean;
  /** The model's window in tokens, if it is known. Absent unless the model is available. */
  window?: number;
  /** False where it is known to see no images. */
  vision?: boolean;
}

/** A provider, as a page sees it: no address, no key. */
export interface ProviderInfo {
  id: string;
  type: string;
  name: string;
  available: boolean;
  models: string[];
  isDefault: boolean;
  isTypeDefault: boolean;
  supportsTools?: boolean;
}

/** The fields of a prompt that a page may fill; the bridge reads them. */
export const PROMPT_FIELDS = ["messages", "model", "provider", "tools", "temperature", "top_p", "response_schema"] as const;

export type PeerRequest =
  | ({ type: "request_permissions" } & PermissionsRequest)
  | ({ type: "permissions" } & Asker)
  | ({ type: "list" } & Asker)
  | ({ type: "call" } & CallRequest)
  | ({ type: "prompt" } & PromptRequest)
  | ({ type: "model_state"; document: string } & Asker)
  | ({ type: "providers" | "active_provider" } & Asker)
  | ({ type: "about" } & Asker)
  | ({ type: "browser" } & Asker & BrowserWish)
  | RunsRequest;

/** What concerns runs. */
export type RunsRequest =
  | ({ type: "run" } & Asker & RunWish)
  | ({ type: "session_create" } & Asker & SessionWish)
  | ({ type: "session_get" | "session_end"; sessionId: string } & Asker)
  | ({ type: "session_list" } & Asker);

/** What `harbor` says of itself to `web-agents-api`. */
export interface About {
  /** Whether there is a model that can be asked. */
  model: boolean;
  /** Features that the person's configuration switches off for all pages. */
  off: string[];
}

/** What a page may. */
export interface PermissionsView {
  origin: string;
  scopes: { [scope in Scope]: GrantWord };
  /** The tools that calls are allowed for; all when absent. */
  allowedTools?: string[];
}

export interface PermissionsAnswer extends PermissionsView {
  /** Whether all that was asked for is allowed. */
  granted: boolean;
}

/** The same, and whether the person was asked. Pages are not told that. */
export interface AskedAnswer extends PermissionsAnswer {
  asked: boolean;
}

export type ListAnswer = ToolDescriptor[];

export const MAX_REASON = 5_000;
const MAX_SCOPES = 64;
const MAX_SCOPE = 64;
const MAX_TOOLS = 64;
const MAX_TOOL = 256;

/** Reads a request; throws ERR_INVALID_REQUEST. */
export function parsePeerRequest(type: string, fields: Fields): PeerRequest {
  const asker: Asker = { origin: origin(fields["origin"]), tab: tab(fields["tab"]), ...profile(fields["profile"]) };
  switch (type) {
    case "permissions":
    case "about":
    case "list":
    case "session_list":
      return { type, ...asker };
    case "run":
      return { type, ...asker, ...parseRun(fields) };
    case "session_create":
      return { type, ...asker, ...parseSession(fields) };
    case "session_get":
    case "session_end":
      return { type, ...asker, ...parseSessionId(fields) };
    case "call":
      return { type, ...asker, ...parseCall(fields), progress: fields["progress"] === true };
    case "model_state":
      return { type, ...asker, document: document_(fields["document"]) };
    case "providers":
    case "active_provider":
      return { type, ...asker };
    case "prompt":
      return { type, ...asker, ...parsePrompt(fields) };
    case "browser":
      return { type, ...asker, ...parseBrowser(fields) };
    case "request_permissions": {
      const { scopes, ...wish } = parseWish(fields);
      if (!scopes.every(isScope)) throw wrong("scopes", `an array of at least one of ${SCOPES.join(", ")}`);
      return { type, ...asker, document: document_(fields["document"]), gesture: parseGesture(fields["gesture"]), ...wish, scopes };
    }
    default:
      throw new CodedError("ERR_INVALID_REQUEST", "there is no request of this type");
  }
}

/** What a page asks to be allowed, as it came from the page. */
export function parseWish({ scopes, reason, tools }: Fields): PageWish {
  const wish: PageWish = { scopes: parseScopes(scopes) };
  if (reason !== undefined) {
    if (typeof reason !== "string") throw wrong("reason", "a text");
    if (reason.length > MAX_REASON) throw wrong("reason", `a text of at most ${MAX_REASON} characters`);
    wish.reason = reason;
  }
  if (tools !== undefined) wish.tools = parseTools(tools);
  return wish;
}

/** Which click of the person it was; 0 where it is none. */
export function parseGesture(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;
}

/** A call, as it came from the page. */
export function parseCall({ tool, args }: Fields): Pick<CallRequest, "tool" | "args"> {
  if (!isTool(tool)) throw wrong("tool", "a name as tools.list() gives it, SERVER/TOOL");
  if (typeof args !== "string") throw wrong("args", "an object");
  if (args.length > MAX_ARGS) throw wrong("args", `an object of at most ${MAX_ARGS} characters as JSON`);
  if (isDeep(args)) throw wrong("args", `an object that is nested at most ${MAX_DEPTH} deep`);
  return { tool, args };
}

/** A prompt, as it came from the page. */
export function parsePrompt({ body, stream }: Fields): Pick<PromptRequest, "body" | "stream"> {
  if (typeof body !== "string") throw wrong("body", "a text");
  if (isTooLarge(body)) throw wrong("body", `a text of at most ${MAX_PROMPT} bytes`);
  if (isDeep(body)) throw wrong("body", `nested at most ${MAX_DEPTH} deep`);
  return { body, stream: stream === true };
}

function parseScopes(value: unknown): string[] {
  const isName = (scope: unknown): scope is string => typeof scope === "string" && scope !== "" && scope.length <= MAX_SCOPE;
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_SCOPES || !value.every(isName)) {
    throw wrong("scopes", `an array of 1 to ${MAX_SCOPES} names of scopes`);
  }
  return [...new Set(value)];
}

function parseTools(value: unknown): string[] {
  const expected = `an array of 1 to ${MAX_TOOLS} names, SERVER/TOOL or SERVER/*`;
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_TOOLS || !value.every(isAskable)) throw wrong("tools", expected);
  return [...new Set(value)];
}

function isTool(value: unknown): value is string {
  // Half a letter is none: no JSON of other programs can hold it.
  return typeof value === "string" && value.length <= MAX_TOOL && /^[A-Za-z0-9][\w.-]*\/./.test(value) && !/\p{Cs}/u.test(value);
}

/** A star is a name by itself: within one, a person would take it for more than it is. */
function isAskable(value: unknown): value is string {
  return isTool(value) && (/^[^/]+\/\*$/.test(value) || !value.includes("*"));
}

function origin(value: unknown): string {
  if (typeof value !== "string" || !isPageOrigin(value)) throw wrong("origin", "the origin of a page over https, or of this machine");
  return value;
}

function document_(value: unknown): string {
  if (typeof value !== "string" || value === "" || value.length > 128) throw wrong("document", "an id");
  return value;
}

function tab(value: unknown): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) throw wrong("tab", "a tab's id");
  return value;
}

function profile(value: unknown): { profile?: string } {
  if (value === undefined) return {};
  if (!isContainer(value)) throw wrong("profile", "the name of a container");
  return { profile: value };
}

function wrong(field: string, expected: string): CodedError {
  return new CodedError("ERR_INVALID_REQUEST", `${field} must be ${expected}`);
}
