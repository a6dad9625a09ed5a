//! The facts about providers of models that are known without asking anybody.
//!
//! Owns the list of types, and the rules for ids, names and addresses, and for which address a key belongs to. Must never know a
//! provider's format: the model worker knows it.

use harbor_ipc_proto::model::{Dialect, Kind};
use url::Url;

use crate::remote;

/// Longer names are refused, in bytes.
const MAX_NAME: usize = 64;

/// Longer names of models are refused, in bytes.
const MAX_MODEL: usize = 256;

/// More providers are refused.
pub const MOST_PROVIDERS: usize = 64;

/// The name under which keys of providers are kept among the secrets of servers. No server can have it.
pub const KEYS: &str = "_llm";

/// A model's name in two, at the first `:` or `/`, where what stands before it is a provider: `lab:m`, `lab/m`. Names of models have both,
/// too.
#[must_use]
pub fn split_model(name: &str, is_provider: impl Fn(&str) -> bool) -> Option<(&str, &str)> {
    let (provider, model) = name.split_once([':', '/'])?;
    is_provider(provider).then_some((provider, model))
}

/// True if programs of this kind list all models that they have.
#[must_use]
pub fn lists_all(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Ollama | Kind::Llamafile | Kind::LlamaServer | Kind::LmStudio | Kind::Vllm | Kind::Lemonade
    )
}

/// True if a provider lists this model. Ollama takes a name without a tag for the tag `latest`.
pub fn has_model<'a>(listed: impl IntoIterator<Item = &'a str>, model: &str) -> bool {
    listed.into_iter().any(|known| known == model || known.strip_suffix(":latest") == Some(model))
}

/// A type of provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct About {
    /// Which.
    pub kind: Kind,
    /// Its name for people.
    pub label: &'static str,
    /// Where it is when nothing else is said; empty where that must be said.
    pub base_url: &'static str,
    /// How it is spoken to.
    pub dialect: Dialect,
    /// True if it answers nobody without a key.
    pub needs_key: bool,
    /// Where its key lies in environments; empty where there is no custom.
    pub variable: &'static str,
}

const fn local(kind: Kind, label: &'static str, base_url: &'static str, dialect: Dialect) -> About {
    About { kind, label, base_url, dialect, needs_key: false, variable: "" }
}

const fn service(kind: Kind, label: &'static str, base_url: &'static str, variable: &'static str) -> About {
    About { kind, label, base_url, dialect: Dialect::Chat, needs_key: true, variable }
}

/// All types.
pub const TYPES: [About; 14] = [
    local(Kind::Ollama, "Ollama", "http://127.0.0.1:11434", Dialect::Ollama),
    local(Kind::Llamafile, "llamafile", "http://127.0.0.1:8080/v1", Dialect::Chat),
    local(Kind::LlamaServer, "llama-server", "http://127.0.0.1:9931/v1", Dialect::Chat),
    local(Kind::LmStudio, "LM Studio", "http://127.0.0.1:1234/v1", Dialect::Chat),
    local(Kind::Vllm, "vLLM", "http://127.0.0.1:8000/v1", Dialect::Chat),
    local(Kind::Lemonade, "Lemonade", "http://127.0.0.1:13305/api/v1", Dialect::Chat),
    // Its newer models take tools in this format only.
    About {
        dialect: Dialect::Responses,
        ..service(Kind::OpenAi, "OpenAI", "https://api.openai.com/v1", "OPENAI_API_KEY")
    },
    About {
        kind: Kind::Anthropic,
        label: "Anthropic",
        base_url: "https://api.anthropic.com",
        dialect: Dialect::Anthropic,
        needs_key: true,
        variable: "ANTHROPIC_API_KEY",
    },
    About {
        dialect: Dialect::Gemini,
        ..service(
            Kind::Gemini,
            "Gemini",
            "https://generativelanguage.googleapis.com/v1beta",
            "GEMINI_API_KEY",
        )
    },
    service(Kind::OpenRouter, "OpenRouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    service(Kind::Mistral, "Mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    service(Kind::Groq, "Groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    service(Kind::DeepSeek, "DeepSeek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    local(Kind::OpenAiCompatible, "OpenAI-compatible", "", Dialect::Chat),
];

/// The facts about a type.
#[must_use]
pub fn about(kind: Kind) -> About {
    let found = TYPES.iter().copied().find(|about| about.kind == kind);
    found.unwrap_or(local(kind, "", "", Dialect::Chat))
}

/// The format that a provider of this kind speaks at this address when nothing else is said. Gateways that stand for OpenAI
/// speak its older one.
#[must_use]
pub fn usual_dialect(kind: Kind, base_url: &str) -> Dialect {
    let about = about(kind);
    if kind == Kind::OpenAi && base_url != about.base_url { Dialect::Chat } else { about.dialect }
}

/// The address of a provider in the form that is kept.
///
/// # Errors
/// The form that it has to have instead.
pub fn address(text: &str, allow_private: bool) -> Result<String, &'static str> {
    let url = remote::parse(text.trim()).map_err(|expected| match expected {
        "a URL like https://example.com/mcp" => "a URL like https://example.com/v1",
        other => other,
    })?;
    if url.query().is_some() || url.fragment().is_some() {
        return Err("a URL without `?` and `#`");
    }
    if remote::is_exposed(&url) && !allow_private {
        return Err(
            "https://…, or http:// on this machine: the key and the conversation would go over the network unencrypted",
        );
    }
    if remote::says_private(&url) && !remote::says_loopback(&url) && !allow_private {
        return Err("an address that is not private, or the option `allow_private`");
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

/// True if a provider counts the tokens of a conversation without answering it. llama-server does so in every format, by the
/// request that Anthropic has for it.
#[must_use]
pub fn counts_tokens(kind: Kind, dialect: Dialect) -> bool {
    match kind {
        Kind::LlamaServer | Kind::Llamafile => true,
        Kind::OpenAi => matches!(dialect, Dialect::Responses | Dialect::Anthropic),
        _ => matches!(dialect, Dialect::Anthropic | Dialect::Gemini),
    }
}

/// True if a model's name says that it makes texts of speech.
#[must_use]
pub fn transcribes(model: &str) -> bool {
    let name = model.to_ascii_lowercase();
    ["whisper", "transcri", "moonshine", "parakeet"].iter().any(|word| name.contains(word))
}

/// The address of a type where it was found at another port of this machine.
#[must_use]
pub fn at_port(about: &About, port: u16) -> Option<String> {
    let mut url = Url::parse(about.base_url).ok()?;
    url.set_port(Some(port)).ok()?;
    Some(url.as_str().trim_end_matches('/').to_owned())
}

/// True if the address of a provider is on this machine.
#[must_use]
pub fn is_local(base_url: &str) -> bool {
    Url::parse(base_url).is_ok_and(|url| remote::says_loopback(&url))
}

/// The port of this machine at which a provider is.
#[must_use]
pub fn local_port(base_url: &str) -> Option<u16> {
    let url = Url::parse(base_url).ok().filter(remote::says_loopback)?;
    url.port_or_known_default()
}

/// A name for people, where it may be one.
#[must_use]
pub fn is_name(name: &str) -> bool {
    !name.trim().is_empty() && name.len() <= MAX_NAME && !name.chars().any(char::is_control)
}

/// The name of a model, where it may be one.
#[must_use]
pub fn is_model(name: &str) -> bool {
    !name.trim().is_empty() && name.len() <= MAX_MODEL && !name.chars().any(char::is_control)
}

/// A name that a person may give a model. It has no `:` and no `/`, which stand between a provider and a model.
#[must_use]
pub fn is_alias(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.len() <= MAX_NAME && name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(fits)
}

/// The purpose of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Answers.
    Chat,
    /// Short answers that should come at once.
    Fast,
    /// Answers about pictures.
    Vision,
    /// Text of speech.
    Transcription,
}

impl Use {
    /// All uses.
    pub const ALL: [Self; 4] = [Self::Chat, Self::Fast, Self::Vision, Self::Transcription];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Fast => "fast",
            Self::Vision => "vision",
            Self::Transcription => "transcription",
        }
    }

    /// The use with the name `name`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|of| of.name() == name)
    }
}

/// An id for a provider of this name that none of `taken` has: `my-gateway`, `my-gateway-2`, ….
#[must_use]
pub fn id_for(name: &str, taken: impl Fn(&str) -> bool) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let words: String = name.chars().map(plain).collect();
    let words: Vec<_> = words.split('-').filter(|word| !word.is_empty()).collect();
    let base = match words.join("-") {
        // A key's name begins with a letter.
        base if base.starts_with(|c: char| c.is_ascii_alphabetic()) => base,
        base => format!("provider-{base}").trim_end_matches('-').to_owned(),
    };
    let mut ids = std::iter::once(base.clone()).chain((2..).map(|n: u32| format!("{base}-{n}")));
    ids.find(|id| !taken(id)).unwrap_or(base)
}

/// About so many tokens are `bytes` of text: four bytes are one in English, fewer in code and other scripts.
#[must_use]
pub fn estimate(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::credentials::wrong_key;
    use harbor_ipc_proto::client::CredentialType;
    use harbor_ipc_proto::server_id::ServerId;

    #[test]
    fn a_model_is_named_behind_its_provider_by_a_colon_or_a_slash() {
        let split = |name| split_model(name, |id| id == "lab");
        assert_eq!(split("lab:m"), Some(("lab", "m")));
        assert_eq!(split("lab/org/m:8b"), Some(("lab", "org/m:8b")));
        for other in ["m", "org/m", "m:8b", "lab", "LAB:m", ":m"] {
            assert_eq!(split(other), None, "{other}");
        }
        assert!(has_model(["m:latest"], "m") && has_model(["m:8b"], "m:8b") && !has_model(["m:8b"], "m"));
    }

    #[test]
    fn every_type_is_listed_once_and_its_address_is_one() {
        for kind in Kind::ALL {
            assert_eq!(TYPES.iter().filter(|about| about.kind == *kind).count(), 1, "{kind:?}");
            let About { base_url, needs_key, variable, .. } = about(*kind);
            assert!(base_url.is_empty() || address(base_url, false) == Ok(base_url.into()), "{base_url}");
            assert_eq!(
                (is_local(base_url), needs_key),
                (!needs_key && !base_url.is_empty(), !variable.is_empty())
            );
        }
    }

    #[test]
    fn only_openai_itself_speaks_its_newer_format_unasked() {
        assert_eq!(usual_dialect(Kind::OpenAi, "https://api.openai.com/v1"), Dialect::Responses);
        assert_eq!(usual_dialect(Kind::OpenAi, "https://gateway.example/v1"), Dialect::Chat);
        assert_eq!(usual_dialect(Kind::Gemini, "https://gateway.example"), Dialect::Gemini);
    }

    #[test]
    fn no_server_has_the_name_of_the_keys() {
        assert_eq!(ServerId::parse(KEYS), None);
    }

    #[test]
    fn an_address_is_encrypted_or_here() {
        assert_eq!(address(" https://example.com/v1/ ", false), Ok("https://example.com/v1".into()));
        assert_eq!(address("http://localhost:8080", false), Ok("http://localhost:8080".into()));
        assert_eq!(address("http://10.0.0.7:8000/v1", true), Ok("http://10.0.0.7:8000/v1".into()));
        for bad in [
            "http://example.com/v1",
            "https://10.0.0.7",
            "https://u:p@example.com",
            "https://example.com?key=1",
            "file:///etc/passwd",
            "example.com",
            "",
        ] {
            assert!(address(bad, false).is_err(), "{bad}");
        }
        assert_eq!(local_port("http://127.0.0.1:8080/v1"), Some(8080));
        assert_eq!(local_port("https://example.com:8080"), None);
        let at = |kind| at_port(&about(kind), 9).unwrap();
        assert_eq!(
            [at(Kind::LlamaServer), at(Kind::Ollama)],
            ["http://127.0.0.1:9/v1", "http://127.0.0.1:9"]
        );
    }

    #[test]
    fn an_id_is_made_of_the_name_and_can_name_a_key() {
        let ids = |name: &str| id_for(name, |id| id == "ollama");
        assert_eq!(ids("Ollama"), "ollama-2");
        assert_eq!(ids("  My Gateway (Berlin) "), "my-gateway-berlin");
        assert_eq!(ids("日本"), "provider");
        assert_eq!(ids("7b"), "provider-7b");
        for name in ["Ollama", "日本", "7b", "_", &"x".repeat(MAX_NAME)] {
            assert_eq!(wrong_key(CredentialType::ApiKey, &ids(name)), None, "{name}");
        }
    }

    #[test]
    fn a_persons_name_of_a_model_cannot_be_taken_for_a_providers() {
        for name in ["fast", "Qwen3-4b", "a_b.c"] {
            assert!(is_alias(name), "{name}");
        }
        for name in ["", "4b", "a:b", "a/b", "a b", "é", &"x".repeat(MAX_NAME + 1)] {
            assert!(!is_alias(name), "{name}");
        }
        assert!(Use::ALL.iter().all(|of| Use::from_name(of.name()) == Some(*of)));
        assert_eq!(Use::from_name("Chat"), None);
    }

    #[test]
    fn a_model_for_speech_is_known_by_its_name() {
        let all = ["whisper-1", "gpt-4o-mini-transcribe", "Whisper-Large-v3", "gpt-5", "llama3.2"];
        assert_eq!(all.map(transcribes), [true, true, true, false, false]);
    }

    #[test]
    fn words_are_counted_rather_too_high() {
        assert_eq!([0, 1, 3, 4].map(estimate), [0, 1, 1, 2]);
    }
}
