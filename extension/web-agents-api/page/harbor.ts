// `window.harbor`: all of ours in one place, wherever the browser or somebody else has something of the same name.
//
// Owns that object.

import { freeze, native } from "./builtins.ts";
import { agent } from "./agent.ts";
import { ai } from "./ai.ts";
import { modelContext } from "./registry.ts";
import { LanguageModel } from "./language_model.ts";
import { LanguageModelToolCall, LanguageModelToolError, LanguageModelToolSuccess } from "./tools.ts";

/** What pages find as `window.harbor`. */
export const harbor = freeze({
  version: __VERSION__,
  agent,
  ai,
  LanguageModel,
  modelContext,
  LanguageModelToolCall,
  LanguageModelToolSuccess,
  LanguageModelToolError,
  chromeAiDetected: native.LanguageModel !== undefined,
  native: freeze({ languageModel: native.LanguageModel !== undefined, modelContext: native.modelContext }),
});
