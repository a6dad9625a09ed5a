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
    if (changed > 0) return { tone: "warn", words: `${count(changed, "tool")} changed: look at ${changed === 1 ? "it" : "them"}`, wants: "tools" };
    if (server.busy) return { tone: "busy", words: "Works on a call, and answers nothing else" };
    if (tools === undefined) return { tone: "warn", words: "Its tools could not be listed", wants: "tools" };
    return { tone: "good", words: count(tools, "tool") };
  }
  if (state === "starting" || state === "stopping" || state === "installing") return { tone: "busy", words: "" };
  if (missing !== undefined && missing.length > 0) return { tone: "warn", words: `Waits for ${missing.join(", ")}`, wants: "secrets" };
  if (missing !== undefined && last_exit?.cause === "missing_secrets") return { tone: "idle", words: "Has its secrets now: start it" };
  if (last_exit?.cause === "needs_authorization") return { tone: "warn", words: "Wants you to sign in", wants: "secrets" };
  if (state === "crashed") return { tone: "warn", words: `${last_error ?? "It has ended"}${retryWords(server)}` };
  if (state === "failed") return { tone: "bad", words: last_error ?? "It could not be started" };
  return { tone: "idle", words: "" };
}

/** A server's state in a word or two, for a person. */
export function stateOf({ state, shown_state: shown }: Pick<Server, "state" | "shown_state">): string {
  if (state === "installing" || state === "starting" || state === "stopping") return state;
  const words: { [shown: string]: string } = { needs_key: "needs a key", needs_sign_in: "needs a sign-in", needs_approval: "needs your yes" };
  return words[shown] ?? (shown === "failed" && state === "crashed" ? "restarting" : shown);
}

function retryWords({ next_retry }: Server): string {
  return next_retry === undefined ? "" : `; tried again at ${timeWords(next_retry)}`;
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
  exited: "Its log says what it did last. Start it again once the reason is mended.",
  signalled: "Something has killed it. Its log says what it did last.",
  out_of_memory: "It wanted more memory than its sandbox allows: `harbor sandbox NAME --memory-mb …` gives it more.",
  too_many_processes: "It started more processes than its sandbox allows: `harbor sandbox NAME --processes …` allows more.",
  disk_full: "It wrote more than its sandbox allows: `harbor sandbox NAME --disk-mb …` allows more.",
  hung: "It did not answer any more. Start it again; its log says what it did last.",
  closed_stdout: "It closed the way that it answers by. Its log may say why.",
  spawn_failed: "Its program could not be started: look at its command below.",
  timeout: "It did not answer in time. Start it again; its log says how far it came.",
  refused: "Its sandbox cannot be held here as it has to be: `harbor sandbox NAME` says what is missing.",
  malformed: "What it says is no MCP. Look at its command: it may print something else first.",
  unknown_protocol_version: "It speaks a version of MCP that Harbor does not know. A newer or older version of it may do.",
  install_failed: "Its package could not be installed; the log says why. Start it to try again.",
  package_lost: "Its package is gone from the disk. Start it: it is installed again as it was.",
  secrets_locked: "Secrets are locked: run `harbor secrets unlock`. It starts by itself then.",
  secrets_unreadable: "The file with the secrets cannot be read: `harbor doctor` says why. It starts by itself then.",
  missing_secrets: "Give it its secrets, then start it.",
  needs_authorization: "Sign in where it runs.",
  runner_lost: "The process that held it has ended. Start it again.",
  protocol_error: "It broke the rules of MCP. Its log may say more.",
  unreachable: "Nothing answers at its address: look at the address, and at your network.",
  unauthorized: "It wants a key, or another one: set it under Secrets.",
  session_lost: "The other side has forgotten us. Start it again.",
  forbidden: "The other side refuses. Its operator can say why.",
  tls: "The other side's certificate is not to be trusted, or the connection is not encrypted.",
  no_mcp: "There is something at its address, and it is no MCP server: look at the address.",
};

/** What to do about how a server has ended. */
export function afterEnd({ cause }: Pick<Exit, "cause">, id: string): string {
  return (AFTER_END[cause] ?? "Its log may say more.").replace("NAME", id);
}

const CODES: { [code: string]: string } = {
  ERR_SERVER_UNAVAILABLE: "The server does not run, or ended under the call. Start it; its log may say why.",
  ERR_TOOL_TIMEOUT: "The server did not answer in time, and was told to stop.",
  ERR_TOOL_FAILED: "The server refused, or could not do it. Look at what you gave it.",
  ERR_TOOL_NOT_FOUND: "The server has no such tool any more: go back to its tools.",
  ERR_PROTOCOL_ERROR: "The server's answer breaks the rules of MCP.",
  ERR_RATE_LIMITED: "Too much at once. Wait a moment.",
  ERR_AUTHORIZATION_REQUIRED: "The server wants you to sign in, or to let Harbor do more there: see Secrets.",
  ERR_AUTHORIZATION_FAILED: "Nothing came of the signing in. Try again.",
  ERR_BRIDGE_NOT_CONNECTED: "There is no connection to Harbor on this machine.",
  ERR_VERSION_MISMATCH: "Harbor and this extension do not fit: update the older one.",
  invalid_params: "Look at what you have filled in.",
  not_found: "It is not there any more.",
  connection_failed: "Its log may say more.",
  catalog_unavailable: "The catalog cannot be read now: `harbor catalog` says more.",
  secrets_locked: "Run `harbor secrets unlock`, then try again.",
  cancelled: "It was ended before it was done.",
  shutting_down: "Harbor is ending. Try again in a moment.",
};

/** What a code means to a person; nothing where the message has to be enough, or says it better. */
export function codeWords({ code, details }: Failure): string | undefined {
  const { field, left } = Object(details) as { [name: string]: unknown };
  // A source that was looked up was never there.
  if (code === "not_found" && field === "source") return undefined;
  // Nothing has a log that is not there any more.
  if (code === "connection_failed" && left !== undefined) return left === "nothing" ? "Nothing of it was kept." : undefined;
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
  return scope;
}
