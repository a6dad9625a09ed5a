// The question before a call of a page's by which something may be destroyed: one for each call.
//
// Owns which tools that is: those that declare it (`destructiveHint: true`), and those of which the person says so; what the person says
// otherwise counts more. Must never ask for a site that may not use the tool: the bridge refuses that call, and says why. How often a site
// may ask is decided in questions.ts.

import type { NativeClient } from "../shared/native/client.ts";
import { isFields } from "../shared/ports/wire.ts";
import { CodedError } from "../shared/protocol/codes.ts";
import type { Grant, Server } from "../shared/protocol/generated/messages.ts";
import type { CallRequest } from "../shared/protocol/peer.ts";
import type { Asking } from "./asking.ts";
import { isCovered, outcomeOf } from "./grants.ts";

type Bridge = Pick<NativeClient, "request">;

/** How many calls of a site may wait for answers. */
export const MOST_ASKED = 4;

/** How long it is known which tools of a server destroy. A tool that changes is called by nobody before the person has seen it. */
const KNOWN_MS = 10_000;

const WHY = "this tool may destroy something";

export class Destroying {
  readonly #bridge: Bridge;
  readonly #asking: Pick<Asking, "confirm">;
  readonly #known = new Map<string, { at: number; tools: ReadonlySet<string> }>();
  readonly #waiting = new Map<string, number>();

  constructor(bridge: Bridge, asking: Pick<Asking, "confirm">) {
    this.#bridge = bridge;
    this.#asking = asking;
  }

  /** Has the person say yes to a call, where it needs that. Rejects where they say no, or with the signal's reason. */
  async agreed({ origin, tab, tool, args }: CallRequest, signal: AbortSignal): Promise<void> {
    if (!(await this.#destroys(tool, signal))) return;
    const { grants } = await this.#bridge.request("host_get_permissions", { origin, tab_id: tab });
    if (!isCovered({ scopes: ["mcp:tools.call"], tools: [tool] }, grants as Grant[])) return;
    const waiting = this.#waiting.get(origin) ?? 0;
    if (waiting >= MOST_ASKED) throw new CodedError("ERR_RATE_LIMITED", "other calls wait for the person's answer: wait for it, too");
    this.#waiting.set(origin, waiting + 1);
    try {
      const view = { origin, scopes: [], servers: [], named: false, call: { tool, args, why: WHY } };
      const decision = await this.#asking.confirm(view, signal);
      if (decision === "refused") throw declined("the person has not allowed the site's last calls: try again later");
      const outcome = outcomeOf(decision);
      // The answer holds, whether it can be written down or not.
      await this.#bridge.request("host_note_consent", { origin, tab_id: tab, outcome, tools: [tool] }).catch((error) => console.error("an answer is not in the audit log", error));
      if (decision.allow === "no") throw declined("the person has declined this call");
    } finally {
      const left = (this.#waiting.get(origin) ?? 1) - 1;
      if (left > 0) this.#waiting.set(origin, left);
      else this.#waiting.delete(origin);
    }
  }

  async #destroys(name: string, signal: AbortSignal): Promise<boolean> {
    const at = name.indexOf("/");
    const [id, tool] = [name.slice(0, at), name.slice(at + 1)];
    const known = this.#known.get(id);
    if (known !== undefined && Date.now() - known.at < KNOWN_MS) return known.tools.has(tool);
    const { servers } = await this.#bridge.request("list_servers", {}, { signal });
    const server = servers.find(({ server_id }) => server_id === id);
    // What is no server is asked about elsewhere, or is not there.
    if (server === undefined) return false;
    const tools = await this.#toolsOf(id, tool, signal);
    this.#known.set(id, { at: Date.now(), tools: destroying(tools, server) });
    return this.#known.get(id)?.tools.has(tool) === true;
  }

  /** What is at hand; a server that has never said which tools it has is asked. One that cannot be asked cannot be called. */
  async #toolsOf(server_id: string, tool: string, signal: AbortSignal): Promise<unknown> {
    const ask = (more: { wait_ms?: number }) => this.#bridge.request("mcp_list_tools", { server_id, ...more }, { signal }).then(({ tools }) => tools as unknown, () => []);
    const atHand = await ask({ wait_ms: 0 });
    return Array.isArray(atHand) && atHand.some((one) => isFields(one) && one["name"] === tool) ? atHand : await ask({});
  }
}

/** The names of those tools of a server by which something may be destroyed, as it declares or the person says. */
export function destroying(tools: unknown, { supervision }: Pick<Server, "supervision">): ReadonlySet<string> {
  const { destroys = [], writes = [], reads = [] } = (supervision ?? {}) as { [list: string]: string[] };
  const milder = new Set([...writes, ...reads]);
  const declares = (tool: unknown) => {
    if (!isFields(tool) || typeof tool["name"] !== "string" || !isFields(tool["annotations"])) return [];
    const { destructiveHint, readOnlyHint } = tool["annotations"];
    return destructiveHint === true && readOnlyHint !== true && !milder.has(tool["name"]) ? [tool["name"]] : [];
  };
  return new Set([...destroys, ...(Array.isArray(tools) ? tools.flatMap(declares) : [])]);
}

function declined(message: string): CodedError {
  return new CodedError("ERR_PERMISSION_DENIED", message);
}
