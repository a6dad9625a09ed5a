// What states, failures and codes are called in plain words, and what a person can do.
//
// Pure. Must never say that something is well that is not known to be.

import type { Failure } from "../../shared/protocol/codes.ts";
import type { Exit, Server } from "../../shared/protocol/generated/messages.ts";
import type { Part } from "./route.ts";

export type Tone = "good" | "busy" | "idle" | "warn" | "bad";

/** What a server's line says, and where it leads if it wants something of the person. */
export interface Standing {
  tone: Tone;
  /** One line. */
  words: string;
  wants?: Part;
}

/** How a server stands. `missing`: secrets that it has not got, where that is known. */
export function standingOf(server: Server, missing?: string[]): Standing {
  const { state, tool_count: tools, changed_tools: changed = 0, last_exit, last_error } = server;
  if (state === "running") {
    if (changed > 0) return { tone: "warn", words: `${count(changed, "tool")} changed: review ${changed === 1 ? "it" : "them"}`, wants: "tools" };
    if (server.busy) return { tone: "busy", words: "Busy with a call, not answering others" };
    if (tools === undefined) return { tone: "warn", words: "Its tools could not be listed", wants: "tools" };
    return { tone: "good", words: count(tools, "tool") };
  }
  if (state === "starting" || state === "stopping" || state === "installing") return { tone: "busy", words: "" };
  if (missing !== undefined && missing.length > 0) return { tone: "warn", words: `Set ${missing.join(", ")}`, wants: "secrets" };
  if (missing !== undefined && last_exit?.cause === "missing_secrets") return { tone: "idle", words: "Its secrets are set now: start it" };
  if (last_exit?.cause === "needs_authorization") return { tone: "warn", words: "Sign in to use it", wants: "secrets" };
  if (state === "crashed") return { tone: "warn", words: `${last_error ?? "It ended"}${retryWords(server)}` };
  const program = last_exit === undefined ? undefined : missingProgram(last_exit);
  if (state === "failed" && program !== undefined) return { tone: "bad", words: `The program ${program} ${missingWords(program)}` };
  if (state === "failed") return { tone: "bad", words: last_error ?? "It could not be started" };
  return { tone: "idle", words: tools === undefined ? "" : count(tools, "tool") };
}

/** A server's state in a word or two, for a person. */
export function stateOf({ state, shown_state: shown }: Pick<Server, "state" | "shown_state">): string {
  if (state === "installing" || state === "starting" || state === "stopping") return state;
  const words: { [shown: string]: string } = { needs_key: "needs a key", needs_sign_in: "needs a sign-in", needs_approval: "needs your yes" };
  return words[shown] ?? (shown === "failed" && state === "crashed" ? "restarting" : shown);
}

/** Of what a server is made: its package, image, address or command. A foreign text. */
export function madeOf({ package: installed, image, remote, command, args }: Pick<Server, "package" | "image" | "remote" | "command" | "args">): string {
  return installed ?? image?.reference ?? remote?.url ?? [command, ...args].map(short).join(" ");
}

/** Of a path its last part: a line has no room for more. */
function short(word: string): string {
  return /^[~.]?\/./.test(word) ? (word.split("/").findLast((part) => part !== "") ?? word) : word;
}

function retryWords({ next_retry }: Server): string {
  return next_retry === undefined ? "" : `; next try at ${timeWords(next_retry)}`;
}

export function count(number: number, thing: string): string {
  return `${number} ${thing}${number === 1 ? "" : "s"}`;
}

/** A time of today, or of another day. */
export function timeWords(at: number, now = Date.now()): string {
  const [then, today] = [new Date(at), new Date(now)];
  const time = then.toLocaleTimeString("en-GB");
  return then.toDateString() === today.toDateString() ? time : `${then.toLocaleDateString("en-CA")} ${time}`;
}

const AFTER_END: { [cause: string]: string } = {
  exited: "Check its log for the reason, fix it, then start the server again.",
  signalled: "Another process killed it. Check its log for what it did last.",
  out_of_memory: "It used more memory than its sandbox allows. Raise the limit: `harbor sandbox NAME --memory 4096`.",
  too_many_processes: "It started more processes than its sandbox allows. Raise the limit: `harbor sandbox NAME --processes 1024`.",
  disk_full: "It wrote more to disk than its sandbox allows. Raise the limit: `harbor sandbox NAME --disk 4096`.",
  hung: "It stopped answering. Start it again, and check its log.",
  closed_stdout: "It closed its output. Its log may say why.",
  spawn_failed: "Its program could not be started. Check the command below.",
  timeout: "It did not answer in time. Start it again, and check its log.",
  refused: "This machine cannot enforce its sandbox. `harbor sandbox NAME` shows what is missing.",
  malformed: "Its output is not MCP. Check its command: it may print something else first.",
  unknown_protocol_version: "It speaks a version of MCP that Harbor does not support. Try another version of the server.",
  install_failed: "Its package could not be installed. Check the log, then start it to try again.",
  package_lost: "Its package was deleted from disk. Start it to install it again.",
  secrets_locked: "Secrets are locked. Run `harbor secrets unlock`, and it starts automatically.",
  secrets_unreadable: "The secrets file cannot be read. `harbor doctor` says why. The server starts automatically once that is fixed.",
  missing_secrets: "Set its secrets, then start it.",
  needs_authorization: "Sign in to the remote server.",
  runner_lost: "The process that ran it ended. Start it again.",
  protocol_error: "It violated the MCP protocol. Its log may say more.",
  unreachable: "Nothing answers at its address. Check the address and your network.",
  unauthorized: "It requires a key, or a different one. Set it under Secrets.",
  session_lost: "The remote server ended the session. Start it again.",
  forbidden: "The remote server refused access. Ask its operator.",
  tls: "The remote server's certificate is not trusted, or the connection is not encrypted.",
  no_mcp: "What answers at its address is not an MCP server. Check the address.",
};

/** The program that a server was to be started with and that is not there; a foreign text. */
export function missingProgram({ cause, message }: Pick<Exit, "cause" | "message">): string | undefined {
  const [, program] = (cause === "spawn_failed" && /^could not run (.+): No such file or directory\b/.exec(message)) || [];
  // A script that is there is told by the same words where its interpreter is not.
  return program?.includes(" by its interpreter ") ? undefined : program;
}

/** What stands behind that program's name. */
export function missingWords(program: string): string {
  return program.includes("/") ? "does not exist" : "is not installed, or not in PATH";
}

/** What to do about how a server has ended. */
export function afterEnd({ cause }: Pick<Exit, "cause">, id: string): string {
  return (AFTER_END[cause] ?? "Its log may say more.").replace("NAME", id);
}

const CODES: { [code: string]: string } = {
  ERR_SERVER_UNAVAILABLE: "The server is not running, or it ended during the call. Start it. Its log may say why.",
  ERR_TOOL_TIMEOUT: "The server did not answer in time, so the call was cancelled.",
  ERR_TOOL_FAILED: "The tool failed. Check the arguments.",
  ERR_TOOL_NOT_FOUND: "The server no longer has this tool. Go back to its tools.",
  ERR_PROTOCOL_ERROR: "The server's answer violates the MCP protocol.",
  ERR_RATE_LIMITED: "Too many calls. Wait a moment.",
  ERR_AUTHORIZATION_REQUIRED: "The server requires you to sign in, or more permissions. See Secrets.",
  ERR_AUTHORIZATION_FAILED: "Signing in did not succeed. Try again.",
  ERR_BRIDGE_NOT_CONNECTED: "Not connected to Harbor on this machine.",
  ERR_VERSION_MISMATCH: "Harbor and this extension are different versions. Update the older one.",
  invalid_params: "Check what you filled in.",
  not_found: "It no longer exists.",
  connection_failed: "Its log may say more.",
  catalog_unavailable: "The catalog cannot be read now. `harbor catalog` says more.",
  secrets_locked: "Run `harbor secrets unlock`, then try again.",
  cancelled: "It was cancelled.",
  shutting_down: "Harbor is ending. Try again in a moment.",
};

/** Whether the message adds nothing to the words for a code: of a server's name it names options of a command. */
export function saysItAll({ code, details }: Failure): boolean {
  return code === "invalid_params" && (Object(details) as { field?: unknown }).field === "server_id";
}

/** What a code means to a person; nothing where the message has to be enough, or says it better. */
export function codeWords(failed: Failure): string | undefined {
  const { code, details } = failed;
  const { field, left } = Object(details) as { [name: string]: unknown };
  if (saysItAll(failed)) return "This name cannot be used: another server has it, or Harbor itself. Choose another name.";
  // A source that was looked up was never there.
  if (code === "not_found" && field === "source") return undefined;
  // Nothing has a log that is not there any more.
  if (code === "connection_failed" && left !== undefined) return left === "nothing" ? "Nothing was installed." : undefined;
  return CODES[code];
}

/** The last that a program wrote before it failed; a foreign text. Of an installation without what Harbor itself writes there. */
export function tailOf({ details }: Failure): string | undefined {
  const { left, stderr_tail: tail } = Object(details) as { [name: string]: unknown };
  if (typeof tail !== "string") return undefined;
  const isOurs = (line: string) => left !== undefined && /^(\$ |refused: )/.test(line);
  const said = tail.split("\n").filter((line) => !isOurs(line)).join("\n");
  return said.trim() === "" ? undefined : said;
}

/** How a person says a scope. */
export function scopeWords(scope: string): string {
  if (scope === "mcp:tools.list") return "See tools";
  if (scope === "mcp:tools.call") return "Use tools";
  if (scope === "mcp:server.connect") return "Start servers of its tools";
  if (scope === "model:prompt") return "Use your language model";
  if (scope === "model:tools") return "Have a model do tasks with tools";
  if (scope === "model:list") return "See your language models";
  if (scope === "browser:activeTab.read") return "Read its own page";
  if (scope === "browser:activeTab.interact") return "Click and fill in its own page";
  if (scope === "browser:activeTab.screenshot") return "Take pictures of its own page";
  if (scope === "browser:navigate") return "Lead its own tab elsewhere";
  if (scope === "browser:tabs.read") return "List the tabs that it opened";
  if (scope === "browser:tabs.create") return "Open tabs and use them";
  return scope;
}
