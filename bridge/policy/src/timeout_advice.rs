//! Decides whether more time may help a server that did not answer in time.
//!
//! Owns this last advice: it is given only where no word of the server is a reason by itself.

use crate::credentials::named_as_missing;
use crate::package::usage::{listens, wants_arguments};
use crate::sandbox::hint::shell;

/// Words of whoever waits for something else in vain, in small letters.
const NOBODY_THERE: &[&str] = &[
    "econnrefused",
    "connection refused",
    "enotfound",
    "eai_again",
    "name or service not known",
    "temporary failure in name resolution",
    "fetch failed",
];

/// True if nothing in these words explains the silence.
#[must_use]
pub fn is_unexplained(said: &str) -> bool {
    let named = named_as_missing(said).is_some();
    let lower = said.to_ascii_lowercase();
    let nobody_there = NOBODY_THERE.iter().any(|words| lower.contains(words));
    !named && !nobody_there && !listens(said) && !wants_arguments(said, named)
}

/// The advice for such a server, to follow the reason of the failure.
#[must_use]
pub fn more_time(server: &str) -> String {
    format!(
        "; if it needs longer, give it more time with `harbor set {} --start-timeout SECONDS` (also for `add` and \
         `install`)",
        shell(server)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_time_is_for_silence_without_a_reason() {
        for said in ["", "loading the model, 40 %", "Server running on stdio"] {
            assert!(is_unexplained(said), "{said}");
        }
        for said in [
            "[INFO] HTTP server listening on port 3333",
            "usage: tiny [-h] DIR",
            "Error: A_TOKEN is required",
            "HTTPConnectionPool(host='localhost', port=8888): [Errno 111] Connection refused",
            "TypeError: fetch failed\n  [cause]: Error: getaddrinfo ENOTFOUND mcp.example.com",
        ] {
            assert!(!is_unexplained(said), "{said}");
        }
        assert!(more_time("a b").contains("`harbor set 'a b' --start-timeout SECONDS`"));
    }
}
