// Holds the declarations against what is built: the same names, and the same data. `npm run check` reads it; nothing runs it.
//
// Must never be loosened where the two differ: one of them is wrong.

import type { Pushes, ToolDescriptor as SentTool } from "../shared/protocol/generated/messages.ts";
import type { ModelState, PermissionsView, ProviderInfo as SentProvider } from "../shared/protocol/peer.ts";
import type { ElementView } from "../harbor/browser/page/commands.ts";
import type { PageTab } from "../harbor/page_tabs.ts";
import type { agent } from "../web-agents-api/page/agent.ts";
import type { ai } from "../web-agents-api/page/ai.ts";
import type { harbor } from "../web-agents-api/page/harbor.ts";
import type { context } from "../web-agents-api/page/model_context.ts";
import type { LanguageModel } from "../web-agents-api/page/language_model.ts";
import type * as tools from "../web-agents-api/page/tools.ts";
import type { Capabilities as SentCapabilities } from "../web-agents-api/pages.ts";
import type * as api from "./index.d.ts";

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never;
type SameKeys<A, B> = Same<keyof A, keyof B>;
type Sent = Pushes["run_event"]["event"];

/** Names of what a page can call. */
export const names: [
  SameKeys<typeof agent, api.Agent>,
  SameKeys<(typeof agent)["tools"], api.Agent["tools"]>,
  SameKeys<(typeof agent)["permissions"], api.Agent["permissions"]>,
  SameKeys<(typeof agent)["sessions"], api.Agent["sessions"]>,
  SameKeys<(typeof agent)["browser"], api.Agent["browser"]>,
  SameKeys<(typeof agent)["browser"]["activeTab"], api.AgentBrowser["activeTab"]>,
  SameKeys<(typeof agent)["browser"]["tabs"], api.AgentBrowser["tabs"]>,
  SameKeys<(typeof agent)["browser"]["tab"], api.AgentBrowser["tab"]>,
  Same<ElementView, api.PageElement>,
  Same<PageTab, api.PageTab>,
  SameKeys<typeof ai, api.AI>,
  SameKeys<(typeof ai)["providers"], api.AI["providers"]>,
  SameKeys<(typeof ai)["runtime"], api.AI["runtime"]>,
  SameKeys<(typeof ai)["languageModel"], api.AI["languageModel"]>,
  SameKeys<LanguageModel, api.LanguageModelSession>,
  Same<Exclude<keyof typeof LanguageModel, "prototype">, Exclude<keyof api.LanguageModelStatic, "prototype" | "isHarbor">>,
  SameKeys<typeof harbor, api.Harbor>,
  SameKeys<(typeof harbor)["modelContext"], api.HarborModelContext>,
  SameKeys<typeof context, api.DocumentModelContext>,
  SameKeys<tools.LanguageModelToolCall, api.LanguageModelToolCall>,
  SameKeys<tools.LanguageModelToolSuccess, api.LanguageModelToolSuccess>,
  SameKeys<tools.LanguageModelToolError, api.LanguageModelToolError>,
] = [true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true];

/** What travels. */
export const data: [
  Same<PermissionsView, api.Permissions>,
  Same<SentProvider, api.ProviderInfo>,
  Same<ModelState["state"], api.Availability>,
  SameKeys<SentCapabilities, api.Capabilities>,
  Same<Exclude<keyof api.ToolDescriptor, keyof SentTool>, never>,
  Same<Exclude<keyof Extract<api.RunEvent, { type: "tool_result" }>, keyof Sent | "seq">, never>,
  Same<Exclude<keyof Extract<api.RunEvent, { type: "final" }>, keyof Sent | "seq">, never>,
  // What the person's model costs is told to no page.
  SameKeys<Omit<NonNullable<Sent["usage"]>, "cost_microdollars">, api.Usage>,
  SameKeys<NonNullable<Sent["citations"]>[number], api.Citation>,
] = [true, true, true, true, true, true, true, true, true];
