//! How providers say that a model takes no tools. Pure.
//!
//! Owns the words. Must never take a fault of one tool, or a failure that passes, for such a refusal.

/// The words for tools.
const TOOLS: [&str; 9] = [
    "tools",
    "tool use",
    "tool call",
    "tool_call",
    "tool choice",
    "tool_choice",
    "function call",
    "function_call",
    "functions",
];

/// The words for what is not there.
const REFUSED: [&str; 14] = [
    "not support",
    "unsupported",
    "no support",
    "n't support",
    "that support",
    "not available",
    "not enabled",
    "not implemented",
    "not allowed",
    "not permitted",
    "disabled",
    "requires --jinja",
    "--enable-auto-tool-choice",
    "unknown field",
];

/// Words that refuse, where no word is of a fault.
const UNABLE: [&str; 10] = [
    "cannot",
    "can not",
    "can't",
    "unable",
    "not able",
    "not capable",
    "unavailable",
    "text-only",
    "remove the",
    "not accept",
];

/// The words of a fault of one tool, or of a limit.
const FAULT: [&str; 8] =
    ["tools[", "tools.", "schema", "parameter", "invalid", "more than", "too many", "at most"];

/// The words of a model's template that fails.
const TEMPLATE: [&str; 7] = ["jinja", "render", "raise", "apply", "parse", "not callable", "not iterable"];

/// The words of a refusal of one way to use them, which says nothing of the others.
const ONE_WAY: [&str; 2] = ["tool_choice", "tool choice"];
const FORCED: [&str; 3] = ["required", "\"any\"", "named"];

/// The statuses with which a request is refused as it is.
const STATUSES: [u16; 6] = [400, 404, 405, 422, 500, 501];

/// True if a provider refuses a request for its tools. `status`: HTTP's; none where the error came within an answer.
#[must_use]
pub fn refuses_tools(status: Option<u16>, message: &str) -> bool {
    if status.is_some_and(|status| !STATUSES.contains(&status)) {
        return false;
    }
    let message = message.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| message.contains(word));
    // Harbor forces a call in other ways, too.
    if has(&ONE_WAY) && has(&FORCED) && !message.contains("--enable-auto") {
        return false;
    }
    let of_template = message.contains("template") && has(&TEMPLATE);
    of_template || (has(&TOOLS) && (has(&REFUSED) || (has(&UNABLE) && !has(&FAULT))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_of_tools_are_known_in_many_words() {
        for said in [
            "registry.ollama.ai/library/gemma3:1b does not support tools",
            "This model doesn't support function calling",
            "No endpoints found that support tool use. Try disabling \"f\".",
            "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set",
            "tools param requires --jinja flag",
            "tool calls are not supported by this model",
            "`tools` is not supported in this model.",
            "Error rendering prompt with jinja template: \"Only user and assistant roles are supported!\".",
            "Failed to apply the chat template",
            "Function calling is not enabled for models/gemma-3-1b-it: functions",
            "This model cannot do function calling.",
            "This model is not able to call functions",
            "Tool calling is unavailable for this deployment",
            "Model phi3 is text-only: remove the field tools",
            "Value is not callable: null at row 1, column 5 in chat template: tools",
            "Value is not iterable: tools at row 1, column 5 (chat template)",
        ] {
            assert!(refuses_tools(Some(400), said), "{said}");
            assert!(refuses_tools(None, said), "{said}");
            assert!(!refuses_tools(Some(429), said), "{said}");
        }
    }

    #[test]
    fn a_fault_of_one_tool_and_other_failures_are_none() {
        for said in [
            "Invalid schema for function 'look': \"x\" is not of type \"object\"",
            "tools[3].function.name: string does not match pattern",
            "the context is full",
            "tool_choice 'required' is not supported",
            "you cannot send more than 128 tools",
            "cannot read the schema of tools[0]",
            "temperature is not supported",
            "model not found",
            "internal server error",
            "",
        ] {
            assert!(!refuses_tools(Some(400), said), "{said}");
        }
    }
}
