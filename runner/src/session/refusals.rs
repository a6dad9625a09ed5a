//! Finds what a server says that it was refused or lacks: on stderr, or in the result of a call that failed.
//!
//! Owns telling the bridge, once for each. The server's words may lie, so they lead only to a hint to the person.

use std::borrow::Cow;
use std::sync::LazyLock;

use harbor_policy::sandbox::hint::{Said, said};
use harbor_policy::unreachable_places::is_its_own_refusal;
use memchr::memmem::Finder;
use serde::Deserialize;

use super::Session;
use super::told_refusals::MOST;

const IS_ERROR: &[u8] = b"\"isError\"";

/// The finder is made once: making it takes as long as reading a small result.
static FINDER: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(IS_ERROR));

/// Longer results are not searched: results that report an error are short.
const LONGEST_RESULT: usize = 8 * 1024;

/// The result of a failed call, as far as it is read.
#[derive(Deserialize)]
struct Failed<'a> {
    #[serde(borrow)]
    content: Vec<Part<'a>>,
}

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
}

/// True if the result of a call says that its tool has failed. Most results lack the word for it, and are not parsed.
pub(super) fn reports_error(result: &str) -> bool {
    #[derive(Deserialize)]
    struct ErrorFlag {
        #[serde(rename = "isError")]
        is_error: bool,
    }
    let bytes = result.as_bytes();
    let says_so = |at: usize| {
        let value = bytes[at + IS_ERROR.len()..].trim_ascii_start().strip_prefix(b":");
        value.is_some_and(|value| value.trim_ascii_start().starts_with(b"true"))
    };
    FINDER.find_iter(bytes).any(says_so)
        && serde_json::from_str::<ErrorFlag>(result).is_ok_and(|said| said.is_error)
}

impl Session {
    /// Looks for a refusal in a line.
    pub(super) fn on_line_said(&self, text: &str) {
        if self.listens_to_words()
            && let Some(said) = self.refusals.reader.borrow_mut().line(text)
        {
            self.tell_refusal(said);
        }
    }

    /// Looks for refusals in the result of a call that reports an error.
    pub(super) fn on_failure_said(&self, result: &str) {
        if !self.listens_to_words() || result.len() > LONGEST_RESULT {
            return;
        }
        let Ok(Failed { content }) = serde_json::from_str(result) else { return };
        content
            .iter()
            .filter_map(|part| part.text.as_deref())
            .for_each(|text| self.on_words_of_failure(text));
    }

    /// Looks for a refusal in the words of a failure. The first one says what went wrong.
    pub(super) fn on_words_of_failure(&self, text: &str) {
        if self.listens_to_words() && !is_its_own_refusal(text) {
            said(text).into_iter().take(1).for_each(|said| self.tell_refusal(said));
        }
    }

    pub(super) fn listens_to_words(&self) -> bool {
        self.is_held && self.refusals.told.borrow().len() < MOST
    }

    pub(super) fn tell_refusal(&self, said: Said) {
        self.refusals.tell(&self.up, self.number, said);
    }
}

#[cfg(test)]
mod tests {
    use super::super::told_refusals::Refusals;
    use super::*;
    use crate::to_bridge::Up;

    #[test]
    fn a_tool_that_failed_says_so_itself() {
        for (result, wanted) in [
            (r#"{"content":[],"isError":true}"#, true),
            ("{\"isError\" :\n true, \"content\": []}", true),
            (r#"{"content":[],"isError":false}"#, false),
            (r#"{"content":[{"type":"text","text":"\"isError\":true"}]}"#, false),
            (r#"{"structuredContent":{"isError":true},"isError":false}"#, false),
            (r#"{"structuredContent":{"isError":true}}"#, false),
            (r#"{"isError":true,"isError":true}"#, false),
            ("{}", false),
        ] {
            assert_eq!(reports_error(result), wanted, "{result}");
        }
    }

    #[test]
    fn a_host_that_the_proxy_refused_is_told_once_and_is_no_line() {
        let (refusals, up) = (Refusals::default(), Up::new());
        let line =
            |host: usize| format!("refused {host}.example.com:443: it is not among the allowed hosts; to");
        assert!(refusals.of_proxy(&up, 1, &line(0)));
        let pending = up.pending();
        assert!(pending > 0);
        assert!(refusals.of_proxy(&up, 1, &line(0)));
        assert_eq!(up.pending(), pending);
        assert!(!refusals.of_proxy(&up, 1, "refused 2 more connections in the last minute"));
        assert!((1..MOST).all(|host| refusals.of_proxy(&up, 1, &line(host))));
        assert!(!refusals.of_proxy(&up, 1, &line(MOST)) && refusals.of_proxy(&up, 1, &line(1)));
    }
}
