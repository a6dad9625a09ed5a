//! Where a dialect's requests go, below a base URL. Pure.

use harbor_ipc_proto::link::model::{Cause, Failure, Target};
use harbor_ipc_proto::model::Dialect;
use url::Url;

use crate::failure::failed;

/// The base URL of a provider.
///
/// # Errors
/// When it is none.
pub fn base(target: &Target) -> Result<Url, Failure> {
    harbor_policy::remote::parse(&target.base_url)
        .map_err(|expected| failed(Cause::Refused, format!("the base URL is not valid: expected {expected}")))
}

/// The URL for what the dialect calls `path`: `chat/completions`, `responses`, `models`, `messages`; for Ollama `chat`, `tags`.
pub fn endpoint(base: &Url, dialect: Dialect, path: &str) -> Url {
    let below = base.path().trim_end_matches('/');
    let bare = |suffix: &str| below.strip_suffix(suffix).unwrap_or(below).trim_end_matches('/');
    let full = match dialect {
        Dialect::Chat | Dialect::Responses if below.is_empty() => format!("/v1/{path}"),
        Dialect::Chat | Dialect::Responses => format!("{below}/{path}"),
        Dialect::Gemini if below.is_empty() => format!("/v1beta/{path}"),
        Dialect::Gemini => format!("{below}/{path}"),
        Dialect::Anthropic => format!("{}/v1/{path}", bare("/v1")),
        Dialect::Ollama => {
            format!("{}/api/{path}", bare(if below.ends_with("/api") { "/api" } else { "/v1" }))
        }
    };
    at(base, &full)
}

/// The URL of a path on the same server, without a version in front: some paths lie beside the dialects.
pub fn beside(base: &Url, path: &str) -> Url {
    let below = base.path().trim_end_matches('/');
    let below = ["/v1", "/api"].iter().find_map(|suffix| below.strip_suffix(suffix)).unwrap_or(below);
    at(base, &format!("{}{path}", below.trim_end_matches('/')))
}

fn at(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    url.set_query(None);
    url.set_fragment(None);
    let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
    url.set_path(path);
    url.set_query(query);
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_go_below_the_base() {
        let of =
            |base: &str, dialect, path: &str| endpoint(&Url::parse(base).unwrap(), dialect, path).to_string();
        let chat = |base: &str| of(base, Dialect::Chat, "chat/completions");
        assert_eq!(chat("http://localhost:8080"), "http://localhost:8080/v1/chat/completions");
        assert_eq!(chat("https://api.openai.com/v1/"), "https://api.openai.com/v1/chat/completions");
        assert_eq!(chat("https://openrouter.ai/api/v1"), "https://openrouter.ai/api/v1/chat/completions");
        for base in ["http://localhost:1", "http://localhost:1/v1beta/"] {
            let url = of(base, Dialect::Gemini, "models/m:streamGenerateContent?alt=sse");
            assert_eq!(url, "http://localhost:1/v1beta/models/m:streamGenerateContent?alt=sse");
        }
        for base in
            ["https://api.anthropic.com", "https://api.anthropic.com/v1", "https://api.anthropic.com/"]
        {
            assert_eq!(of(base, Dialect::Anthropic, "messages"), "https://api.anthropic.com/v1/messages");
        }
        for base in ["http://localhost:11434", "http://localhost:11434/v1", "http://localhost:11434/api/"] {
            assert_eq!(of(base, Dialect::Ollama, "chat"), "http://localhost:11434/api/chat");
            assert_eq!(beside(&Url::parse(base).unwrap(), "/props").as_str(), "http://localhost:11434/props");
        }
    }
}
