// What `dist/mock/harbor-mock.js` adds to a page: `window.harborMock`, which says what the page API answers there.
//
// Declarations only. docs/page-api.md says how it is used.

import type { CallToolResult, Progress, Scope } from "./index.d.ts";

/** What the person says to a question; `never`: no, and it is remembered. */
export type MockDecision = "always" | "once" | "no" | "never";

export interface MockTool {
  description?: string;
  inputSchema?: object;
  /** Gives MCP's result; a text or an object becomes one. What it throws is a result with `isError`; with a `code`, the call's error. */
  call(args: any, context: { signal: AbortSignal; progress(progress: Progress): void }): CallToolResult | string | object | Promise<CallToolResult | string | object>;
}

/** What the model is told. */
export interface MockTold {
  /** The text that was said last. */
  prompt: string;
  messages: { role: string; content?: unknown; toolCalls?: unknown; toolCallId?: string; isError?: boolean }[];
  /** The page's own tools in a session, the person's in a run. */
  tools: { name: string; description?: string; inputSchema?: unknown }[];
  /** Of `responseConstraint`. */
  schema?: unknown;
  signal: AbortSignal;
}

export interface MockSaid {
  text?: string;
  calls?: { name: string; arguments?: object }[];
}

export interface MockScript {
  /** False: the extension Harbor is missing. */
  harbor?: boolean;
  /** False: a question needs no click. */
  clicks?: boolean;
  /** What the person switches off, by its name in `features`. */
  features?: { [feature: string]: boolean };
  /** `always` if absent. */
  person?: MockDecision | ((wish: { scopes: Scope[]; tools?: string[]; reason?: string }) => MockDecision | Promise<MockDecision>);
  /** The person's tools, by SERVER/TOOL. */
  tools?: { [name: string]: MockTool };
  /** What it says, whole or in pieces. If absent it says back what it is told, or the least that a schema allows. Null: there is no model. */
  model?: null | ((told: MockTold) => string | MockSaid | AsyncIterable<string> | Promise<string | MockSaid>);
  /** What Harbor does in tabs: what `agent.browser` resolves with. What it throws is the call's error, with its `code`. */
  tabs?(asked: { act: string; tabId?: number; selector?: string; value?: string; url?: string; [field: string]: unknown }): unknown;
  /** How many tokens the model takes; 4,096 if absent. */
  window?: number;
  /** False: it sees no images. */
  vision?: boolean;
}

export interface HarborMock {
  /** Says how it is from now on; what is not named stays as it was. */
  answer(script: MockScript): void;
  /** What Harbor was asked, in order. */
  readonly asked: { type: string; [field: string]: unknown }[];
  /** Forgets the script, all grants and what was asked. */
  reset(): void;
}

declare global {
  interface Window {
    /** Absent where the extension itself is in the page. */
    harborMock?: HarborMock;
  }
}
