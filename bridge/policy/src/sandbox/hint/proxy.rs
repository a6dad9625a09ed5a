//! Refusals of the egress proxy: in its own words, and in those of a program that it answered.
//!
//! Owns the words that the proxy and its readers share.

use std::borrow::Cow;

use harbor_ipc_proto::link::runner::Lack;

use super::path::find_word;
use crate::sandbox::hosts::Target;

/// The proxy's name in the header `Proxy-Status` of its own answers (RFC 9209).
pub const EGRESS: &str = "harbor-egress";

/// The proxy's words behind `refused HOST:PORT` where no rule permits it.
pub const NOT_ALLOWED: &str = ": it is not among the allowed hosts";

/// The words beside `403` in programs' messages about the proxy's answer, mostly without the host: Python, curl, Node.
const OF_PROXY: &[&str] = &["forbidden", "proxy", "tunnel"];

/// Node's words about any failure.
const OF_FETCH: &str = "fetch failed";

/// The host that a line of the proxy's says that it refused, where an option would allow it.
#[must_use]
pub fn refused_host(line: &str) -> Option<Lack<'static>> {
    let (target, _) = line.strip_prefix("refused ")?.split_once(NOT_ALLOWED)?;
    Target::parse(target, None).map(|target| Lack::Host(Cow::Owned(target.rule())))
}

/// True if a text may be about the proxy's answer.
pub(super) fn is_of_proxy(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let forbidden = find_word(&lower, "403").is_some() && OF_PROXY.iter().any(|word| lower.contains(word));
    forbidden || lower.contains(OF_FETCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_refused_host_is_read_as_the_rule_that_would_allow_it() {
        let host = |line: &str| refused_host(line);
        let of = |rule: &'static str| Some(Lack::Host(rule.into()));
        assert_eq!(
            host("refused example.com:443: it is not among the allowed hosts; to allow"),
            of("example.com")
        );
        assert_eq!(host("refused [2001:db8::1]:7: it is not among the allowed hosts"), of("[2001:db8::1]:7"));
        for other in [
            "refused example.com:443: this name has no public address",
            "refused 3 more connections in the last minute",
            "refused \u{202e}:443: it is not among the allowed hosts",
            "",
        ] {
            assert_eq!(host(other), None, "{other:?}");
        }
    }

    #[test]
    fn programs_tell_of_the_proxys_answer_without_the_host() {
        for text in [
            "HTTP Error 403: Forbidden",
            "<HTTPError 403: 'Forbidden'>",
            "Proxy response (403) !== 200 when HTTP Tunneling",
            "OSError('Tunnel connection failed: 403 Forbidden')",
            "curl: (56) CONNECT tunnel failed, response 403",
            "TypeError: fetch failed",
        ] {
            assert!(is_of_proxy(text), "{text:?}");
        }
        assert!(!is_of_proxy("room 403 is closed") && !is_of_proxy(""));
    }
}
