// What can be switched off: features of the page API, by the person, in the extension's storage.
//
// Pure. Owns their names and defaults. They are asked in the background, where no page reaches.

import { CodedError } from "../shared/protocol/codes.ts";
import { type Fields, isFields } from "../shared/ports/wire.ts";
import { BROWSER_FLAGS, isAct, neededFor } from "../shared/protocol/in_tabs.ts";
import type { Scope } from "../shared/protocol/peer.ts";

export interface Flags {
  /** Whether pages may have a model write. */
  textGeneration: boolean;
  /** Whether pages may learn which tools there are. */
  toolAccess: boolean;
  /** Whether pages may call them. */
  toolCalling: boolean;
  /** Whether pages may have a model work with tools. */
  agentRuns: boolean;
  /** Whether pages may have Harbor read and act in their own tab. */
  browserInteraction: boolean;
  /** Whether pages may have pictures of their own tab. */
  screenshots: boolean;
  /** Whether pages may lead their own tab, and open and use others. */
  browserControl: boolean;
  /** Whether tools of their own may be among these. */
  pageTools: boolean;
}

export const FLAG_NAMES = ["textGeneration", "toolAccess", "toolCalling", "agentRuns", "pageTools", ...BROWSER_FLAGS] as const satisfies (keyof Flags)[];

/** Features of the page API that this version does not have. */
export const NOT_HERE = {
  ...{ siteServers: false },
  ...{ siteChat: false, addressBar: false, multiAgent: false, remoteAgents: false },
} as const;

/** The key in storage. */
export const FLAGS_KEY = "flags";

const DEFAULTS: Flags = { textGeneration: true, toolAccess: true, toolCalling: true, agentRuns: true, pageTools: true, browserInteraction: false, screenshots: false, browserControl: false };

/** Which flag a request needs. */
const NEEDED = new Map<string, keyof Flags>([
  ["list", "toolAccess"],
  ["call", "toolCalling"],
  ["prompt", "textGeneration"],
  ["providers", "textGeneration"],
  ["active_provider", "textGeneration"],
  ["run", "agentRuns"],
  ["own_run", "pageTools"],
  ["session_create", "agentRuns"],
  ["session_get", "agentRuns"],
  ["session_list", "agentRuns"],
  ["session_end", "agentRuns"],
]);

/** Reads what is stored. What is no flag is as it would be without. */
export function parseFlags(stored: unknown): Flags {
  const fields = isFields(stored) ? stored : {};
  const flag = (name: keyof Flags) => (typeof fields[name] === "boolean" ? fields[name] : DEFAULTS[name]);
  return Object.fromEntries(FLAG_NAMES.map((name) => [name, flag(name)])) as unknown as Flags;
}

/** Which flag it takes to make use of a scope: nobody is asked for what is switched off. */
const NEEDED_FOR: { [scope in Scope]: keyof Flags } = {
  "mcp:tools.list": "toolAccess",
  "mcp:tools.call": "toolCalling",
  "mcp:server.connect": "toolCalling",
  "model:prompt": "textGeneration",
  "model:tools": "agentRuns",
  "model:list": "textGeneration",
  "browser:activeTab.read": "browserInteraction",
  "browser:activeTab.interact": "browserInteraction",
  "browser:activeTab.screenshot": "screenshots",
  "browser:navigate": "browserControl",
  "browser:tabs.read": "browserControl",
  "browser:tabs.create": "browserControl",
};

/** Throws ERR_FEATURE_DISABLED where a request is switched off. What there is no act for is said where it is read. */
export function checkFlags(type: string, payload: Fields, flags: Flags): void {
  const { act, tabId } = payload;
  const needed = type === "browser" && isAct(act) ? neededFor({ act, tabId }).flags : [NEEDED.get(type)].filter((flag) => flag !== undefined);
  for (const flag of needed) check(flag, flags);
}

/** Those of a wish that are switched on. Throws ERR_FEATURE_DISABLED where all of them are off: the person could switch them on. */
export function scopesOn(scopes: Scope[], flags: Flags): Scope[] {
  const on = scopes.filter((scope) => flags[NEEDED_FOR[scope]]);
  if (on.length === 0) for (const scope of scopes) check(NEEDED_FOR[scope], flags);
  return on;
}

function check(needed: keyof Flags, flags: Flags): void {
  if (!flags[needed]) throw new CodedError("ERR_FEATURE_DISABLED", `${needed} is switched off: only the person can switch it on, in the options of the Web Agents API or in Harbor's panel`);
}
