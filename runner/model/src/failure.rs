//! Makes [`Failure`]s. Owns that their text is short, of one line, and without the key.

use harbor_ipc_proto::link::model::{Cause, Failure};
use harbor_ipc_proto::secret::Secret;
use harbor_web::trouble::Trouble;

use crate::errors::{self, ProviderError};

/// Characters of a provider's words.
const MAX_WORDS: usize = 1000;

/// One in our own words.
pub fn failed(cause: Cause, message: impl Into<String>) -> Failure {
    Failure { cause, status: None, retry_after_ms: None, message: message.into() }
}

/// The failure of a request that got no answer. Sentences about addresses are written for servers, so they are replaced
/// here.
pub fn unanswered(trouble: Trouble, place: &str) -> Failure {
    use harbor_ipc_proto::link::runner::RemoteEnd;
    match trouble.kind {
        RemoteEnd::Forbidden => failed(
            Cause::Refused,
            format!("{place} is a private address or has no TLS, and this provider may use neither"),
        ),
        _ => failed(Cause::Unreachable, trouble.why),
    }
}

/// The failure of an answer that is no JSON, or not as its dialect has it.
pub fn no_such_thing() -> Failure {
    failed(Cause::Protocol, "the provider's answer does not follow its dialect")
}

/// The failure that a provider tells in the midst of a stream.
pub fn told(said: &ProviderError) -> Failure {
    let cause = errors::cause(None, said);
    let message = match said.message.is_empty() {
        true => "the provider broke off its answer".to_owned(),
        false => words(&said.message, None),
    };
    Failure { status: said.status, retry_after_ms: said.retry_after_ms, ..failed(cause, message) }
}

/// A provider's text as it may be shown.
pub fn words(text: &str, key: Option<&Secret>) -> String {
    let text = match key.filter(|key| key.len() >= 4) {
        Some(key) => text.replace(key.expose(), "…"),
        None => text.to_owned(),
    };
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let text: String = text.chars().map(plain).take(MAX_WORDS).collect();
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_short_and_keep_the_key_to_themselves() {
        let key = Secret::new("sk-123456".into());
        assert_eq!(words(" bad key\nsk-123456! ", Some(&key)), "bad key …!");
        assert_eq!(words(&"x".repeat(5000), None).len(), MAX_WORDS);
    }
}
