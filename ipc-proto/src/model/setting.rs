//! Settings that a model may refuse although its format has them. Owns the names.

use bincode::{BorrowDecode, Encode};

use super::named;

named! {
    /// A part of a request that some models refuse.
    Setting {
        /// The share of likely tokens.
        TopP = "top_p",
        /// The randomness.
        Temperature = "temperature",
        /// Texts at which the answer ends.
        Stop = "stop",
        /// How much the model thinks.
        Effort = "reasoning_effort",
        /// The length of the answer, by its older name.
        MaxTokens = "max_tokens",
        /// The length of the answer, by its newer name.
        MaxCompletionTokens = "max_completion_tokens",
        /// The thoughts of earlier answers.
        Thoughts = "thoughts",
        /// Calls of earlier answers without the thoughts before them.
        CallsWithoutThoughts = "calls_without_thoughts",
        /// Tools, in the way of the provider's format.
        Tools = "tools",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_leads_back_to_its_value() {
        for setting in Setting::ALL {
            assert_eq!(Setting::from_name(setting.name()), Some(*setting));
        }
    }
}
