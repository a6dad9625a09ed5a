// What `harbor`'s own pages may ask of its background.
//
// Owns the names and forms. These requests speak for the person, so the background takes them from pages of ours only.

import type { Approval } from "../shared/protocol/generated/messages.ts";
import type { Scope } from "../shared/protocol/peer.ts";
import type { Decision } from "./grants.ts";
import type { Lack } from "./page_scopes.ts";
import type { PartChange } from "./sidebar/diff.ts";

/** The name of the port. */
export const OWN_PORT = "own";

/** A part of a tool that has changed: the whole of a text, of anything else the lines that differ. All of it is the server's but its name. */
export interface ChangedPart {
  part: PartChange["part"];
  before: string;
  after: string;
}

/** A tool as it is shown in a question. All texts are the server's. */
export interface AskedTool {
  /** `server/tool`, or `server/*` for all that a server has, now and later. */
  name: string;
  title?: string;
  description?: string;
  /** What it does, as far as Harbor knows. */
  effect?: "reads" | "writes" | "destroys";
  /** Its texts have hidden or control characters. */
  hidden?: boolean;
  /** What is not as it was when the person last accepted it. */
  changed?: { parts: ChangedPart[]; blocked: boolean };
  /** How it stood before the question: allowed for good, or left out by the person. */
  before?: "allowed" | "left out";
}

export interface AskedServer {
  id: string;
  label: string;
  state: string;
  /** Whether a call starts it. */
  lazy?: boolean;
  /** What can be chosen. */
  tools: AskedTool[];
  /** Names that the site asks for and this server does not have. The site has made them up, and nothing grants them. */
  strange?: string[];
  /** How many tools it has besides: only its line for all includes them. */
  unlisted?: number;
  /** Where it has not said which tools it has: it may yet, or it does not. Names are the site's then. */
  list?: "awaited" | "missing";
}

/** The model that a site would use. */
export interface AskedModel {
  /** Its name at its provider, where one is chosen. */
  name?: string;
  provider: string;
  /** Whether it runs on this machine. */
  here: boolean;
  /** Tokens of today that the site has used, and may use. */
  used: number;
  budget?: number;
}

/** What the person is asked. */
export interface QuestionView {
  id: number;
  origin: string;
  /** The profile of the browser that its tab is in; absent: the default one. */
  profile?: string;
  reason?: string;
  scopes: Scope[];
  servers: AskedServer[];
  /** Servers that the site asks for and that are not installed. Nothing grants them. */
  missing?: string[];
  /** Whether the site named these tools itself. */
  named: boolean;
  /** How long "once" holds; absent where that is not known. */
  onceSeconds?: number;
  /** What the browser has to be asked for besides, at the person's yes. */
  lack?: Lack;
  /** Where it is about models: the one that would be used; `none`: there is none yet. */
  model?: AskedModel | "none";
  /** A question about this one call, and nothing else. */
  call?: Approval;
  /** Of an AI client that uses the browser: the host that it wants to open, and nothing else. */
  site?: string;
  /** It wants more there than to open it: to run scripts of its own, to use what the browser keeps for the site, or to read what its pages ask of servers. */
  power?: "scripts" | "logins" | "bodies";
}

/** Reads a decision; `undefined`: it is none. */
export function parseDecision(value: unknown): Decision | undefined {
  const { allow, tools, remember, dismissed, answer } = Object(value) as { [name: string]: unknown };
  const said = typeof answer === "string" ? { answer } : {};
  if (allow === "no") return { allow, remember: remember === true, ...(dismissed === true ? { dismissed } : {}), ...said };
  if (allow !== "once" && allow !== "always") return undefined;
  if (!Array.isArray(tools) || !tools.every((tool) => typeof tool === "string")) return undefined;
  return { allow, tools, ...said };
}
