// The script in the world of the page: defines what pages find, once the channel is there.
//
//   page ─ window.agent, ai, LanguageModel, harbor, document.modelContext ─► here ─ port ─► content.ts ─ port ─► background.ts ─► Harbor
//
// Owns which names are defined. Must never replace what the browser or somebody else has defined, or define anything that cannot ask.

import { CapturedEvent, defineProperty, dispatchTo, document_, listenTo, self_ } from "./builtins.ts";
import { agent } from "./agent.ts";
import { ai } from "./ai.ts";
import { connect } from "./channel.ts";
import { harbor } from "./harbor.ts";
import { context } from "./model_context.ts";
import { LanguageModel } from "./language_model.ts";
import { takePreference } from "./preference.ts";
import { LanguageModelToolCall, LanguageModelToolError, LanguageModelToolSuccess } from "./tools.ts";

/**
 * What a page may replace: each is a name that it may have for something of its own. A `const` or a function of that name at the top of its
 * script takes a property that is configurable, and a `var` one that is writable.
 */
const open = (value: unknown): PropertyDescriptor => ({ __proto__: null, value, configurable: true, writable: true }) as PropertyDescriptor;

function define(name: string, descriptor: PropertyDescriptor): void {
  if (!(name in self_)) defineProperty(self_, name, descriptor);
}

function begin(): void {
  define("agent", open(agent));
  define("harbor", open(harbor));
  define("ai", open(ai));
  define("LanguageModel", open(LanguageModel));
  if (!("LanguageModelToolCall" in self_)) {
    define("LanguageModelToolCall", open(LanguageModelToolCall));
    define("LanguageModelToolSuccess", open(LanguageModelToolSuccess));
    define("LanguageModelToolError", open(LanguageModelToolError));
  }
  if (!("modelContext" in document_)) defineProperty(document_, "modelContext", open(context));
  takePreference();
  dispatchTo(self_, new CapturedEvent("agent-ready"));
  // Once more when the page's own scripts can have listened.
  listenTo(self_, "DOMContentLoaded", () => dispatchTo(self_, new CapturedEvent("agent-ready")));
}

if (!("harbor" in self_)) connect(begin);
