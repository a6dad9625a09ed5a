// What the extension `harbor` and the bridge would answer, by a script.
//
// Owns grants, as long as the page is there. Who may ask when, what an answer of the person means and how requests are read is the
// extension's own code. Must never know of a page what Harbor would not. What it has no answer for is ERR_NOT_IMPLEMENTED.

import { Asking } from "../harbor/asking.ts";
import { type Decision, grantsFor, isCovered, isSettled, revocationsFor, viewOf } from "../harbor/grants.ts";
import type { CallOptions } from "../shared/ports/caller.ts";
import type { Fields } from "../shared/ports/wire.ts";
import { neededFor } from "../shared/protocol/in_tabs.ts";
import { CodedError } from "../shared/protocol/codes.ts";
import type { Grant } from "../shared/protocol/generated/messages.ts";
import { type AskedAnswer, type ModelState, type PeerRequest, type PermissionsRequest, type Scope, isOfTools, parsePeerRequest } from "../shared/protocol/peer.ts";
import type { HarborMock, MockScript, MockTold } from "../types/mock.d.ts";
import { asked, promptOf, responseOf } from "./model.ts";
import { Runs } from "./runs.ts";
import { called } from "./tools.ts";

/** What Harbor would do in tabs, by the script: it has neither tabs nor documents of its own. */
async function inTabs({ tabs }: MockScript, { type: _, origin: __, tab: ___, ...wish }: PeerRequest & { type: "browser" }): Promise<unknown> {
  if (tabs === undefined) throw new CodedError("ERR_NOT_IMPLEMENTED", "the mock has no answer for agent.browser: give it `tabs`");
  try {
    return await tabs(wish);
  } catch (error) {
    const { code, message } = Object(error) as { code?: unknown; message?: unknown };
    throw new CodedError(typeof code === "string" ? code : "ERR_TOOL_FAILED", String(message));
  }
}

/** What it answers; for all else the page API has in this version, no script can be written yet. */
const ANSWERED = [
  ...(["permissions", "about", "request_permissions", "list", "call", "model_state", "prompt", "providers", "active_provider"] as const),
  ...(["run", "session_create", "session_get", "session_list", "session_end"] as const),
  ...(["browser"] as const),
] satisfies PeerRequest["type"][];

const WINDOW = 4_096;
const ONE = { id: "mock", type: "mock", name: "mock", available: true, models: ["mock"], isDefault: true, isTypeDefault: true };

export class MockHarbor {
  script: MockScript = {};
  readonly asked: HarborMock["asked"] = [];
  #grants: Grant[] = [];
  #runs = new Runs();
  #asking = this.#newAsking();

  reset(): void {
    this.script = {};
    this.asked.length = 0;
    this.#grants = [];
    this.#runs = new Runs();
    this.#asking = this.#newAsking();
  }

  /** Answers a request, as the port to `harbor` would. */
  async call(type: string, payload: Fields, options: CallOptions = {}): Promise<unknown> {
    const { origin: _, tab: __, ...told } = payload;
    this.asked.push({ type, ...told });
    if (this.script.harbor === false) throw new CodedError("ERR_HARBOR_NOT_FOUND", "the mock plays a browser without the extension Harbor");
    if (!ANSWERED.some((known) => known === type)) throw new CodedError("ERR_NOT_IMPLEMENTED", `the mock has no answer for ${type}`);
    const request = parsePeerRequest(type, payload);
    const { signal = new AbortController().signal } = options;
    switch (request.type) {
      case "browser":
        this.#need(neededFor(request).scope);
        return inTabs(this.script, request);
      case "permissions":
        return viewOf(request.origin, this.#grants);
      case "about":
        return { model: this.script.model !== null, off: [] };
      case "request_permissions":
        return this.#requestPermissions(request, signal);
      case "list":
        this.#need("mcp:tools.list");
        return this.#allowed("mcp:tools.list").map((name) => this.#described(name));
      case "call":
        this.#need("mcp:tools.call", request.tool);
        return called(this.script, request.tool, JSON.parse(request.args) as object, { signal, progress: (progress) => options.onProgress?.(progress) });
      case "model_state":
        return this.#modelState(request);
      case "prompt":
        this.#need("model:prompt");
        return this.#prompt(JSON.parse(request.body) as Fields, signal, request.stream ? options.onChunk : undefined);
      case "providers":
        this.#need("model:list");
        return this.script.model === null ? [] : [ONE];
      case "active_provider":
        this.#need("model:list");
        return this.script.model === null ? { provider: null, model: null } : { provider: "mock", model: "mock" };
      case "run": {
        for (const scope of ["model:prompt", "model:tools", "mcp:tools.call"] as const) this.#need(scope);
        const tools = this.#allowed("mcp:tools.call").filter((tool) => request.tools?.includes(tool) ?? true);
        return this.#runs.run(this.script, request, tools, { ...options, signal });
      }
      case "session_create":
        this.#need("model:tools");
        return this.#runs.create(request.origin, request);
      case "session_get":
        return this.#runs.get(request.sessionId);
      case "session_list":
        return this.#runs.list();
      case "session_end":
        return this.#runs.end(request.sessionId);
    }
  }

  /** Throws where the page was not allowed this. */
  #need(scope: Scope, tool?: string): void {
    if (isCovered({ scopes: [scope], ...(tool === undefined ? {} : { tools: [tool] }) }, this.#grants)) return;
    if (tool !== undefined && isCovered({ scopes: [scope] }, this.#grants)) throw new CodedError("ERR_TOOL_NOT_ALLOWED", `${tool} is not allowed`);
    throw new CodedError("ERR_SCOPE_REQUIRED", `the person has not allowed ${scope}`);
  }

  /** The tools of the script that a scope is allowed for. */
  #allowed(scope: Scope): string[] {
    return Object.keys(this.script.tools ?? {}).filter((tool) => isCovered({ scopes: [scope], tools: [tool] }, this.#grants));
  }

  #described(name: string): object {
    const { description, inputSchema = { type: "object" } } = this.script.tools?.[name] ?? {};
    return { name, serverId: name.slice(0, name.indexOf("/")), ...(description === undefined ? {} : { description }), inputSchema };
  }

  async #modelState(request: { origin: string; document: string }): Promise<ModelState> {
    const { model, window = WINDOW, vision } = this.script;
    if (model === null) return { state: "unavailable" };
    const word = viewOf(request.origin, this.#grants).scopes["model:prompt"];
    if (word === "denied") return { state: "unavailable", denied: true };
    if (word !== "not-granted") return { state: "available", window, ...(vision === undefined ? {} : { vision }) };
    if (this.#asking.isAsking(request.origin)) return { state: "downloading" };
    return (await this.#asking.mayAsk(request)) ? { state: "downloadable" } : { state: "unavailable", denied: true };
  }

  async #prompt({ messages, tools, response_schema: schema, model, provider }: Fields, signal: AbortSignal, chunk: CallOptions["onChunk"]): Promise<object> {
    if (model !== undefined || provider !== undefined) this.#need("model:list");
    const given = messages as MockTold["messages"];
    const told = { prompt: promptOf(given), messages: given, tools: (tools ?? []) as MockTold["tools"], ...(schema === undefined ? {} : { schema }), signal };
    return responseOf(await asked(this.script, told, (text) => chunk?.({ type: "text", text })), told);
  }

  async #requestPermissions(wish: PermissionsRequest, signal: AbortSignal): Promise<AskedAnswer> {
    const known = Object.keys(this.script.tools ?? {});
    const all = [...new Set(known.map((tool) => `${tool.slice(0, tool.indexOf("/"))}/*`))];
    const here = (name: string) => known.includes(name) || all.includes(name);
    const names = wish.scopes.some(isOfTools) ? (wish.tools ?? all).filter(here) : [];
    if (wish.tools !== undefined && wish.scopes.every(isOfTools) && names.length === 0) throw new CodedError("ERR_TOOL_NOT_FOUND", `not available: ${wish.tools.join(", ")}. Name it in the mock's script`);
    const before = this.#grants;
    let isAsked = false;
    if (!isSettled(wish, before, all)) {
      const servers = [{ id: "mock", label: "mock", state: "running", tools: names.map((name) => ({ name })) }];
      const view = { origin: wish.origin, scopes: wish.scopes, servers, named: wish.tools !== undefined, ...(wish.reason === undefined ? {} : { reason: wish.reason }) };
      isAsked = true;
      await this.#asking.ask(wish, { prepare: async () => view, record: async (decision) => this.#record(wish, decision) }, signal);
    }
    return { asked: isAsked, granted: isCovered(wish, this.#grants), ...viewOf(wish.origin, this.#grants) };
  }

  #record(wish: PermissionsRequest, decision: Decision): void {
    const made = grantsFor(wish, decision, this.#grants).map((grant) => ({ profile: "default", created_at: Date.now(), ...grant }) as Grant);
    const gone = revocationsFor(wish, decision).map(({ scope }) => scope);
    const replaced = (old: Grant) => gone.includes(old.scope) || made.some(({ scope, grant_type }) => scope === old.scope && grant_type === old.grant_type);
    this.#grants = [...this.#grants.filter((old) => !replaced(old)), ...made];
  }

  /** The extension's own rules, with a script in the person's place. */
  #newAsking(): Asking {
    const asking: Asking = new Asking({
      now: () => Date.now(),
      store: { get: async () => undefined, set: async () => undefined },
      open: async (id) => (setTimeout(() => void this.#decide(asking, id), 0), id),
      close: async () => undefined,
    });
    return asking;
  }

  async #decide(asking: Asking, id: number): Promise<void> {
    const view = asking.view(id);
    if (view === undefined) return;
    const { scopes, reason, servers, named } = view;
    const tools = servers.flatMap((server) => server.tools.map(({ name }) => name));
    const { person = "always" } = this.script;
    const said = typeof person === "string" ? person : await person({ scopes, ...(named ? { tools } : {}), ...(reason === undefined ? {} : { reason }) });
    asking.decide(id, said === "always" || said === "once" ? { allow: said, tools } : { allow: "no", remember: said === "never" });
  }
}
