// What the sidebar may ask of the bridge: this list, and of each request these fields.
//
// Pure. Owns the list. Must never have what makes a grant, sets a sandbox or ends the bridge: those are asked for elsewhere.

import type { Fields } from "../../shared/ports/wire.ts";
import { isFields } from "../../shared/ports/wire.ts";
import { CodedError } from "../../shared/protocol/codes.ts";
import type { Requests } from "../../shared/protocol/generated/messages.ts";

interface Field {
  is(value: unknown): boolean;
  expected: string;
  needed: boolean;
}

const needed = (is: Field["is"], expected: string): Field => ({ is, expected, needed: true });
const may = (field: Field): Field => ({ ...field, needed: false });

const isText = (most: number) => (value: unknown) => typeof value === "string" && value.length <= most;
const isMap = (is: Field["is"]) => (value: unknown) => isFields(value) && Object.values(value).every(is);
const isList = (is: Field["is"]) => (value: unknown) => Array.isArray(value) && value.every(is);

const id = needed((value) => typeof value === "string" && /^[A-Za-z0-9][\w.-]{0,63}$/.test(value), "a server's id");
const text = needed(isText(4_096), "a text of at most 4,096 characters");
const secret = needed(isText(65_536), "a text of at most 65,536 characters");
const yesNo = needed((value) => typeof value === "boolean", "true or false");
const whole = needed((value) => Number.isSafeInteger(value) && (value as number) >= 0, "a whole number");
const texts = needed(isList(isText(4_096)), "a list of texts");
const textMap = needed(isMap(isText(65_536)), "texts by name");
const listMap = needed(isMap(isList(isText(4_096))), "lists of texts by name");
const object = needed(isFields, "an object");
const grantType = needed((value) => ["ALLOW_ONCE", "ALLOW_ALWAYS", "DENY"].includes(value as string), "a type of grant");
/** Whether a call starts it, and nothing else of its supervision: that neither widens what it may do nor who may use it. */
const lazy = needed((value) => isFields(value) && Object.keys(value).join() === "lazy" && typeof value["lazy"] === "boolean", "`lazy`, true or false");
const credential = needed((value) => value === "api_key" || value === "header", "`api_key` or `header`");

const SERVERS = {
  ping: {},
  connect_server: { server_id: id, restart: may(yesNo), progress: may(yesNo) },
  disconnect_server: { server_id: id },
  get_server_status: { server_id: id },
  get_sandbox: { server_id: id },
  remove_server: { server_id: id, data: may(yesNo) },
  set_supervision: { server_id: id, supervision: lazy },
  mcp_get_logs: { server_id: id, limit: may(whole), follow: may(yesNo) },
} as const;

const TOOLS = {
  mcp_list_tools: { server_id: id },
  mcp_call_tool: { server_id: id, tool_name: text, arguments: may(object), progress: may(yesNo) },
  mcp_list_prompts: { server_id: id },
  mcp_get_prompt: { server_id: id, prompt_name: text, arguments: may(textMap) },
  host_list_tool_changes: { server_id: may(id) },
  host_accept_tool_change: { server_id: id, tool_name: text, tool_hash: text },
  host_accept_server_change: { server_id: id, program: text },
} as const;

const QUESTIONS = {
  approvals_list: { approval_id: may(text) },
  approvals_answer: { approval_id: text, answer: text, reason: may(text) },
  approvals_revoke: { approval_id: may(text) },
} as const;

const SITES = {
  host_list_all_permissions: {},
  host_get_audit: { origin: may(text), since: may(whole), limit: may(whole) },
  host_revoke_permission: { origin: text, profile: may(text), scope: text, grant_type: may(grantType) },
} as const;

/** A chat's settings: its mode is no list of calls that need no question. */
const chatUpdates = needed((value) => isFields(value) && Object.entries(value).every(([key, one]) => CHAT_UPDATES[key]?.(one) === true), "changes to a chat");
const CHAT_UPDATES: { [key: string]: Field["is"] } = {
  name: isText(1_000),
  systemPrompt: isText(65_536),
  enabledServers: isList(isText(64)),
  model: isText(512),
  pinned: (value) => typeof value === "boolean",
};
const longText = needed(isText(4 * 1024 * 1024), "a text of at most 4 MiB");
const hugeText = needed(isText(32 * 1024 * 1024), "a text of at most 32 MiB");
const parts = needed(isList(isFields), "a list of parts");

const CHATS = {
  chat_create_session: { enabled_servers: may(texts), name: may(text), model: may(text), private: may(yesNo) },
  chat_send_message: { session_id: text, message: longText, attachments: may(parts), model: may(text), tool_choice: may(text) },
  chat_watch: { session_id: text, after_seq: may(whole), turn_id: may(text), watch: may(yesNo) },
  chat_stop: { session_id: text },
  mcp_answer: { ask_id: whole, result: object },
  chat_export: { session_id: text, format: text },
  chat_get_session: { session_id: text },
  chat_list_sessions: { limit: may(whole), query: may(text), offset: may(whole) },
  chat_branch: { session_id: text, message_id: whole },
  chat_import: { text: hugeText },
  chat_update_session: { session_id: text, updates: chatUpdates },
  chat_delete_session: { session_id: text },
} as const;

const messages = needed((value) => Array.isArray(value) && value.length <= 8 && value.every(isFields), "a list of messages");

/** A page in parts, and what servers offer to be attached. */
const PAGES = {
  llm_chat: { messages, model: may(text), max_tokens: may(whole), tool_choice: text },
  mcp_list_resources: { server_id: id },
  mcp_read_resource: { server_id: id, uri: text },
} as const;

/** A provider's type or id. */
const provider = needed((value) => typeof value === "string" && /^[a-z][a-z0-9-]{0,127}$/.test(value), "a provider's id");
/** The name of a fetched model: no path, which could be any program's. */
const modelFile = needed((value) => typeof value === "string" && /^[A-Za-z0-9][\w.-]{0,127}$/.test(value), "the name of a fetched model");
const on = needed((value) => value === true, "true");
const grouping = needed((value) => value === "day" || value === "principal", "`day` or `principal`");

/**
 * Providers, with their keys, and how much of models may be used: less or more of it is no grant. What reaches another machine of one's own
 * network, or another user's program, takes a command.
 */
const MODELS = {
  llm_detect: {},
  llm_list_providers: {},
  llm_get_supported_providers: {},
  llm_add_provider: { provider_type: provider, name: may(text), base_url: may(text) },
  llm_configure_provider: { id: provider, enabled: on },
  llm_remove_provider: { id: provider },
  llm_set_api_key: { provider_id: provider, api_key: secret },
  llm_remove_api_key: { provider_id: provider },
  llm_check_provider: { provider_id: provider },
  llm_list_models: {},
  llm_get_active: {},
  llm_set_active: { provider_id: provider, model_id: may(text) },
  llm_usage: { since: may(whole), group_by: grouping },
  llm_setup_status: {},
  llm_download_model: { model_id: text, sha256: may(text), progress: may(yesNo) },
  llm_delete_model: { model_id: modelFile },
  llm_start_local: { model_id: modelFile },
  llm_stop_local: { provider_id: provider },
  llm_list_budgets: {},
  llm_set_budget: { principal: text, tokens_per_day: may(whole) },
} as const;

const ADDING = {
  catalog_get: { cursor: may(text), limit: may(whole) },
  catalog_search: { query: text, cursor: may(text), limit: may(whole) },
  catalog_entry: { id: text },
  resolve_server: { source: text, package: may(whole), progress: may(yesNo) },
  install_server: {
    source: text,
    server_id: may(id),
    package: may(whole),
    inputs: may(listMap),
    env: may(textMap),
    secret_values: may(textMap),
    supervision: may(lazy),
    plan: may(yesNo),
    planned: may(text),
    build: may(yesNo),
    progress: may(yesNo),
  },
  add_server: { server_id: id, command: text, args: may(texts), env: may(textMap), secrets: may(texts), supervision: may(lazy) },
  add_remote_server: { server_id: id, url: text, transport_type: may(text), supervision: may(lazy) },
} as const;

const SECRETS = {
  get_credential_status: { server_id: id },
  list_credentials: { server_id: may(id) },
  set_credential: { server_id: id, key: text, value: secret, credential_type: may(credential) },
  delete_credential: { server_id: id, key: text },
  oauth_status: { server_id: id },
  oauth_start: { server_id: id },
  oauth_finish: { server_id: id },
  oauth_revoke: { server_id: id },
} as const;

export const ALLOWED = { ...SERVERS, ...TOOLS, ...QUESTIONS, ...CHATS, ...PAGES, ...SITES, ...MODELS, ...ADDING, ...SECRETS } as const satisfies {
  [T in keyof Requests]?: { [F in keyof Requests[T]]?: Field };
};

/** The type of a request that the sidebar may make. */
export type Allowed = keyof typeof ALLOWED;

/** Reads a request: its type, and the fields that were looked at. Throws ERR_INVALID_REQUEST. */
export function parseAllowed(type: string, payload: Fields): { type: Allowed; fields: Fields } {
  if (!Object.hasOwn(ALLOWED, type)) throw new CodedError("ERR_INVALID_REQUEST", "the sidebar may not ask this");
  const allowed = type as Allowed;
  const fields: Fields = {};
  for (const [name, field] of Object.entries(ALLOWED[allowed]) as [string, Field][]) {
    const value = payload[name];
    if (value === undefined && !field.needed) continue;
    if (!field.is(value)) throw new CodedError("ERR_INVALID_REQUEST", `${name} must be ${field.expected}`);
    fields[name] = value;
  }
  return { type: allowed, fields };
}
