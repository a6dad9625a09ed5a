// What a page finds: `window.agent`, `window.ai`, `window.harbor`, and `LanguageModel` where the browser has none of its own.
//
// Declarations only, for pages that are written in TypeScript: `/// <reference path="…/extension/types/index.d.ts" />`, or this directory
// in `types`. docs/page-api.md and docs/page-models.md say what each thing does. What is not here does not exist yet.

/** An error of `agent.*` and `ai.*`. Errors of `LanguageModel` are the standard's. */
export interface HarborError extends Error {
  /** An `ERR_` code; docs/page-api.md and `harbor docs protocol` have all of them. */
  code: string;
  details?: unknown;
}

export type Scope = "mcp:tools.list" | "mcp:tools.call" | "mcp:server.connect" | "model:prompt" | "model:tools" | "model:list" | "browser:activeTab.read" | "browser:activeTab.interact" | "browser:activeTab.screenshot" | "browser:navigate" | "browser:tabs.read" | "browser:tabs.create";
export type GrantWord = "granted-once" | "granted-always" | "denied" | "not-granted" | "unavailable";

export interface Permissions {
  origin: string;
  scopes: { [scope in Scope]: GrantWord };
  /** The tools that calls are allowed for; all when absent. */
  allowedTools?: string[];
}

/** What `requestPermissions` gives. */
export interface AskedPermissions extends Permissions {
  /** Whether all that was asked for is allowed. */
  granted: boolean;
  scopes: { [scope in Scope]: GrantWord } & { [other: string]: GrantWord };
}

export interface Capabilities {
  version: string;
  /** Whether Harbor answers; else, or where what is below is not whole, why. */
  harbor: { connected: boolean; code?: string; message?: string };
  tools: { available: boolean; count: number; servers: string[] };
  permissions: Permissions["scopes"] | Record<never, never>;
  allowedTools?: string[];
  /** Whether this page can ask a model now. */
  model: { available: boolean };
  /** Whether it can have it do tasks with tools now. */
  runs: { available: boolean };
  /** What of `agent.browser` works for it now. */
  browser: { readActiveTab: boolean; interact: boolean; screenshot: boolean; navigate: boolean; readTabs: boolean; createTabs: boolean };
  /** Which parts of the API there are for pages. */
  features: { [feature: string]: boolean };
}

export interface ToolDescriptor {
  /** `SERVER/TOOL`, as `tools.call` takes it. */
  name: string;
  serverId: string;
  description?: string;
  inputSchema?: unknown;
}

/** MCP's CallToolResult. */
export interface CallToolResult {
  content?: { type: string; text?: string; data?: string; mimeType?: string; [name: string]: unknown }[];
  structuredContent?: unknown;
  isError?: boolean;
  [name: string]: unknown;
}

export interface Progress {
  progress: number;
  total?: number;
  message?: string;
}

export interface Citation {
  /** The tool, `SERVER/TOOL`. */
  source: string;
  /** The call that it comes from. */
  ref: string;
  excerpt: string;
}

export interface Usage {
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  reasoning_tokens: number;
  /** `exact`, `estimated` or `unknown`. */
  exactness: string;
}

export interface RunFailure {
  code: string;
  message: string;
}

/** What happens in a run: `(status | token | tool_call | tool_result)* (final | error)`. */
export type RunEvent = { runId: string; seq: number } & (
  | { type: "status"; message: string; phase?: string }
  | { type: "token"; token: string }
  | { type: "tool_call"; callId: string; tool: string; args: { [name: string]: unknown } }
  | { type: "tool_result"; callId: string; tool: string; result?: CallToolResult; error?: RunFailure }
  | { type: "final"; output: string; citations?: Citation[]; usage?: Usage }
  | { type: "error"; error: RunFailure & { retryable: boolean } }
);

export interface RunOptions {
  task: string;
  /** Those that it may use: all of the person's that the page may use when absent; or tools of the page's own, `page:HOST/TOOL`. */
  tools?: string[];
  useAllTools?: boolean;
  provider?: string;
  model?: string;
  /** 5 when absent. */
  maxToolCalls?: number;
  requireCitations?: boolean;
  /** A session of `agent.sessions`. */
  sessionId?: string;
  signal?: AbortSignal;
}

export interface SessionWish {
  name?: string;
  reason?: string;
  capabilities: { llm?: { provider?: string; model?: string }; tools?: string[]; browser?: [] };
  limits?: { maxToolCalls?: number; ttlMinutes?: number };
  options?: { systemPrompt?: string; temperature?: number };
}

export interface AgentSession {
  sessionId: string;
  capabilities: unknown;
  [name: string]: unknown;
}

/** An element of the page, the first of those that fit that is to be seen, else the first. */
export interface PageElement {
  /** How many fit. */
  matches: number;
  tag: string;
  role: string;
  name: string;
  states: string[];
  text: string;
  /** What stands in it, of a field; never of a secret one. */
  value?: string;
  visible: boolean;
  box: { x: number; y: number; width: number; height: number };
}

/** A tab of the site: its own, or one that it has opened. */
export interface PageTab {
  id: number;
  opened: boolean;
  active: boolean;
  loading: boolean;
  /** Only while it shows the site's own origin. */
  url?: string;
  title?: string;
}

interface Stops {
  signal?: AbortSignal;
}

/** A selector is one of CSS, and for acting it fits one element. */
export interface AgentBrowser {
  /** The page's own tab. */
  readonly activeTab: {
    /** The page as a reader sees it, in Markdown: at most 50,000 characters. */
    readability(options?: Stops): Promise<{ url: string; title: string; text: string }>;
    getElement(selector: string, options?: Stops): Promise<PageElement | null>;
    /** Until it is to be seen: 10 s, or `timeout` in milliseconds, 30,000 at most. */
    waitForSelector(selector: string, options?: Stops & { timeout?: number }): Promise<PageElement>;
    click(selector: string, options?: Stops & { button?: "left" | "right" | "middle"; doubleClick?: boolean }): Promise<void>;
    fill(selector: string, value: string, options?: Stops): Promise<void>;
    /** By their values, or by what is written on them. */
    select(selector: string, values: string | string[], options?: Stops): Promise<void>;
    /** What is to be seen of it, a JPEG as a data URL; frames of other origins and secret fields are black. */
    screenshot(options?: Stops): Promise<string>;
    /** An element into view; or it, or the page, by so many pixels, or to an end. */
    scroll(options?: Stops & { selector?: string; x?: number; y?: number; to?: "top" | "bottom" }): Promise<void>;
  };
  /** Leads the page's own tab elsewhere; the page ends with that. */
  navigate(url: string, options?: Stops): Promise<void>;
  /** Until the page's own tab shows another address: 10 s, or `timeout` in milliseconds, 30,000 at most. Another document ends the page, and this. */
  waitForNavigation(options?: Stops & { timeout?: number }): Promise<void>;
  readonly tabs: {
    list(options?: Stops): Promise<PageTab[]>;
    get(id: number, options?: Stops): Promise<PageTab>;
    /** Behind the tab that is shown; 8 of a site at most. */
    create(wish: Stops & { url: string }): Promise<PageTab>;
    close(id: number, options?: Stops): Promise<void>;
  };
  /** Tabs that this site has opened, while they show its own origin. */
  readonly tab: {
    readability(id: number, options?: Stops): Promise<{ url: string; title: string; text: string }>;
    /** What is seen of it as HTML, without scripts and styles: at most 50,000 characters. */
    getHtml(id: number, options?: Stops): Promise<string>;
    getElement(id: number, selector: string, options?: Stops): Promise<PageElement | null>;
    waitForSelector(id: number, selector: string, options?: Stops & { timeout?: number }): Promise<PageElement>;
    click(id: number, selector: string, options?: Stops & { button?: "left" | "right" | "middle"; doubleClick?: boolean }): Promise<void>;
    fill(id: number, selector: string, value: string, options?: Stops): Promise<void>;
    select(id: number, selector: string, values: string | string[], options?: Stops): Promise<void>;
    scroll(id: number, options?: Stops & { selector?: string; x?: number; y?: number; to?: "top" | "bottom" }): Promise<void>;
    screenshot(id: number, options?: Stops): Promise<string>;
    /** Until the page is there. It may go anywhere, and is led on and read only while it shows this origin. */
    navigate(id: number, url: string, options?: Stops): Promise<void>;
    /** Until the tab has gone to another address, or is there after it began to; and the page is loaded. */
    waitForNavigation(id: number, options?: Stops & { timeout?: number }): Promise<void>;
    waitForLoad(id: number, options?: Stops): Promise<void>;
  };
}

export interface Agent {
  /** The person is asked for the scopes that there are. Another name, and what is switched off, is `unavailable` in the answer. */
  requestPermissions(wish: { scopes: (Scope | (string & {}))[]; reason?: string; tools?: string[] }): Promise<AskedPermissions>;
  readonly permissions: { list(): Promise<Permissions> };
  capabilities(): Promise<Capabilities>;
  readonly tools: {
    list(): Promise<ToolDescriptor[]>;
    call(call: { tool: string; args?: object; signal?: AbortSignal; onProgress?(progress: Progress): void }): Promise<CallToolResult>;
  };
  /** Begins when the first event is asked for; `break` ends it. */
  run(options: RunOptions): AsyncIterableIterator<RunEvent>;
  readonly sessions: {
    create(wish: SessionWish): Promise<{ success: true; sessionId: string; capabilities: unknown }>;
    get(sessionId: string): Promise<AgentSession | null>;
    list(): Promise<AgentSession[]>;
    terminate(sessionId: string): Promise<boolean>;
  };
  readonly browser: AgentBrowser;
}

export type Token = { type: "token"; token: string } | { type: "done" } | { type: "error"; error: { code: string; message: string } };

export interface TextSession {
  readonly sessionId: string;
  prompt(text: string, options?: { signal?: AbortSignal }): Promise<string>;
  /** Can be read in `for await`, too. */
  promptStreaming(text: string, options?: { signal?: AbortSignal }): ReadableStream<Token> & AsyncIterable<Token>;
  clone(): Promise<TextSession>;
  destroy(): void;
}

export interface TextSessionOptions {
  model?: string;
  provider?: string;
  temperature?: number;
  top_p?: number;
  systemPrompt?: string;
  signal?: AbortSignal;
}

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

export type Readiness = "readily" | "after-download" | "no";

export interface AI {
  canCreateTextSession(): Promise<Readiness>;
  createTextSession(options?: TextSessionOptions): Promise<TextSession>;
  /** As Chrome had it in 2024. */
  readonly languageModel: {
    capabilities(): Promise<{ available: Readiness }>;
    create(options?: { systemPrompt?: string; initialPrompts?: LanguageModelMessage[]; temperature?: number; topK?: number; signal?: AbortSignal }): Promise<TextSession>;
  };
  readonly providers: {
    list(): Promise<ProviderInfo[]>;
    getActive(): Promise<{ provider: string | null; model: string | null }>;
    /** Opens the person's settings, at a click; nothing is filled in there. */
    add(wish?: object): Promise<void>;
  };
  readonly runtime: {
    readonly harbor: AI;
    readonly firefox: null;
    /** The browser's own LanguageModel. */
    readonly chrome: unknown;
    getBest(): Promise<"harbor" | "chrome" | null>;
    getCapabilities(): Promise<{ harbor: { available: Readiness }; chrome: { available: string }; firefox: null }>;
  };
}

export type Availability = "unavailable" | "downloadable" | "downloading" | "available";

export type LanguageModelContent =
  | { type: "text"; value: string }
  | { type: "image"; value: ImageBitmapSource | BufferSource }
  | { type: "tool-call"; value: LanguageModelToolCall }
  | { type: "tool-response"; value: LanguageModelToolSuccess | LanguageModelToolError };

export interface LanguageModelMessage {
  role: "system" | "user" | "assistant";
  content: string | LanguageModelContent[];
  prefix?: boolean;
}

export type LanguageModelPrompt = string | LanguageModelMessage[];

export interface LanguageModelTool {
  name: string;
  description: string;
  inputSchema: object;
  /** Where all tools have it and no calls are expected, the session runs them. */
  execute?(input: any): unknown;
}

export interface LanguageModelExpected {
  type: "text" | "image" | "audio" | "tool-call" | "tool-response";
  languages?: string[];
}

export type LanguageModelSamplingMode = "most-predictable" | "predictable" | "balanced" | "creative" | "most-creative";

export interface LanguageModelCoreOptions {
  expectedInputs?: LanguageModelExpected[];
  expectedOutputs?: LanguageModelExpected[];
  tools?: LanguageModelTool[];
  samplingMode?: LanguageModelSamplingMode;
}

export interface LanguageModelCreateOptions extends LanguageModelCoreOptions {
  initialPrompts?: LanguageModelMessage[];
  signal?: AbortSignal;
  monitor?(monitor: EventTarget & { ondownloadprogress: ((event: ProgressEvent) => void) | null }): void;
}

export interface LanguageModelPromptOptions {
  responseConstraint?: object;
  omitResponseConstraintInput?: boolean;
  signal?: AbortSignal;
}

export interface LanguageModelSession extends EventTarget {
  prompt(input: LanguageModelPrompt, options?: LanguageModelPromptOptions): Promise<string>;
  /** For sessions that expect calls of tools: its parts, where there are calls. */
  prompt(input: LanguageModelPrompt, options?: LanguageModelPromptOptions): Promise<string | LanguageModelContent[]>;
  promptStreaming(input: LanguageModelPrompt, options?: LanguageModelPromptOptions): ReadableStream<string> & AsyncIterable<string>;
  append(input: LanguageModelPrompt, options?: { signal?: AbortSignal }): Promise<void>;
  measureContextUsage(input: LanguageModelPrompt, options?: LanguageModelPromptOptions): Promise<number>;
  readonly contextUsage: number;
  readonly contextWindow: number;
  readonly samplingMode: LanguageModelSamplingMode;
  oncontextoverflow: ((event: Event) => void) | null;
  clone(options?: { signal?: AbortSignal }): Promise<LanguageModelSession>;
  destroy(): void;
}

export interface LanguageModelStatic {
  readonly prototype: LanguageModelSession;
  /** True of ours, absent of a browser's own. */
  readonly isHarbor?: boolean;
  availability(options?: LanguageModelCoreOptions): Promise<Availability>;
  create(options?: LanguageModelCreateOptions): Promise<LanguageModelSession>;
}

export interface LanguageModelToolCall {
  readonly callID: string;
  readonly name: string;
  readonly arguments: any;
}

export interface LanguageModelToolSuccess {
  readonly callID: string;
  readonly name: string;
  readonly result: readonly { type: string; value: unknown }[];
}

export interface LanguageModelToolError {
  readonly callID: string;
  readonly name: string;
  readonly errorMessage: string;
}

/** A tool that a page registers. */
export interface PageTool {
  /** 1 to 128 of `A-Z a-z 0-9 _ - .` */
  name: string;
  title?: string;
  description: string;
  inputSchema?: object;
  annotations?: { [claim: string]: boolean };
  execute(input: any, options: { signal: AbortSignal }): unknown;
}

/** One that is registered. A browser of its own may leave fields out. */
export interface RegisteredTool {
  readonly name: string;
  readonly title: string | null;
  readonly description: string;
  readonly inputSchema: object | null;
  readonly annotations: object | null;
  readonly origin: string;
  readonly window: Window;
}

export interface DocumentModelContext extends EventTarget {
  /** An abort of the signal takes it away again. */
  registerTool(tool: PageTool, options?: { signal?: AbortSignal }): Promise<void>;
  getTools(): Promise<RegisteredTool[]>;
  /** What it gives, as JSON. */
  executeTool(tool: RegisteredTool, input?: object, options?: { signal?: AbortSignal }): Promise<string>;
  /** The event comes at most once a second. */
  ontoolchange: ((event: Event) => void) | null;
}

export interface HarborModelContext {
  registerTool(tool: PageTool, options?: { signal?: AbortSignal }): Promise<void>;
  getTools(): Promise<RegisteredTool[]>;
  executeTool(tool: RegisteredTool, input?: object, options?: { signal?: AbortSignal }): Promise<string>;
  /** As Harbor had it first. */
  addTool(tool: { name: string; description: string; inputSchema?: object; handler(input: any): unknown }): Promise<void>;
  removeTool(name: string): void;
  /** Those that were added by `addTool`. */
  readonly tools: Pick<PageTool, "name" | "description" | "inputSchema">[];
}

export interface Harbor {
  readonly version: string;
  readonly agent: Agent;
  readonly ai: AI;
  readonly LanguageModel: LanguageModelStatic;
  /** The tools of this page, wherever they are kept. */
  readonly modelContext: HarborModelContext;
  readonly LanguageModelToolCall: new (call: { callID: string; name: string; arguments?: unknown }) => LanguageModelToolCall;
  readonly LanguageModelToolSuccess: new (success: { callID: string; name: string; result: { type: string; value: unknown }[] }) => LanguageModelToolSuccess;
  readonly LanguageModelToolError: new (error: { callID: string; name: string; errorMessage: string }) => LanguageModelToolError;
  /** Whether the browser has a LanguageModel of its own. */
  readonly chromeAiDetected: boolean;
  readonly native: { readonly languageModel: boolean; readonly modelContext: "document" | "navigator" | null };
}

declare global {
  interface Window {
    agent: Agent;
    harbor: Harbor;
    ai?: AI;
    LanguageModel?: LanguageModelStatic;
    LanguageModelToolCall?: Harbor["LanguageModelToolCall"];
    LanguageModelToolSuccess?: Harbor["LanguageModelToolSuccess"];
    LanguageModelToolError?: Harbor["LanguageModelToolError"];
  }
  interface Document {
    /** The browser's own where it has one, else ours. */
    readonly modelContext?: DocumentModelContext;
  }
  interface WindowEventMap {
    "agent-ready": Event;
  }
}
