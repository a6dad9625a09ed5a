//! Kinds of providers and their formats, by name. Owns the names (`type`, `dialect` of client messages).

use bincode::{BorrowDecode, Encode};

/// Makes an enum with a name for each of its values.
macro_rules! named {
    ($(#[$about:meta])* $type:ident { $($(#[$each:meta])* $value:ident = $name:literal,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Encode, BorrowDecode)]
        pub enum $type { $($(#[$each])* $value,)* }

        impl $type {
            /// All values, in the order of their numbers on the link.
            pub const ALL: &'static [Self] = &[$(Self::$value,)*];

            /// Its name.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$value => $name,)* }
            }

            /// The value with the name `name`.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.name() == name)
            }
        }
    };
}
pub(crate) use named;

named! {
    /// A kind of provider. It decides which quirks the worker expects; the format is the [`Dialect`]'s.
    Kind {
        /// Ollama.
        Ollama = "ollama",
        /// OpenAI.
        OpenAi = "openai",
        /// Anthropic.
        Anthropic = "anthropic",
        /// A llamafile.
        Llamafile = "llamafile",
        /// The server of llama.cpp.
        LlamaServer = "llama-server",
        /// LM Studio.
        LmStudio = "lmstudio",
        /// vLLM.
        Vllm = "vllm",
        /// OpenRouter.
        OpenRouter = "openrouter",
        /// Mistral.
        Mistral = "mistral",
        /// Groq.
        Groq = "groq",
        /// DeepSeek.
        DeepSeek = "deepseek",
        /// Any other provider with OpenAI's format.
        OpenAiCompatible = "openai-compatible",
        /// Lemonade.
        Lemonade = "lemonade",
        /// Gemini.
        Gemini = "gemini",
    }
}

named! {
    /// A format of requests and answers.
    Dialect {
        /// OpenAI's Chat Completions.
        Chat = "chat",
        /// Anthropic's Messages.
        Anthropic = "anthropic",
        /// Ollama's own.
        Ollama = "ollama",
        /// OpenAI's Responses.
        Responses = "responses",
        /// Gemini's own.
        Gemini = "gemini",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_leads_back_to_its_value() {
        for kind in Kind::ALL {
            assert_eq!(Kind::from_name(kind.name()), Some(*kind));
        }
        for dialect in Dialect::ALL {
            assert_eq!(Dialect::from_name(dialect.name()), Some(*dialect));
        }
        assert_eq!(Kind::from_name("OpenAI"), None);
    }
}
