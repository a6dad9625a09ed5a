//! The reasons why a request is not carried, and the answers to its client.
//!
//! Owns the answers. Must never repeat more of a request than the host that was asked for.

use std::fmt;

use harbor_policy::sandbox::hint::{EGRESS, NOT_ALLOWED, shell};
use harbor_policy::sandbox::hosts::Target;

/// The reason of a refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// No rule permits the host.
    NotAllowed(Target),
    /// A rule permits the name, but none of its addresses is public.
    Private(Target),
    /// It is no request to a proxy.
    Malformed(&'static str),
    /// Its head took too long.
    Slow,
    /// Its head is too long.
    TooLarge,
    /// There are too many connections.
    TooMany,
    /// The name could not be resolved.
    Unresolved(Target, String),
    /// No connection could be made.
    Unreachable(Target, String),
}

impl Refusal {
    /// The line for the person who decides what is allowed, when this is for them to decide.
    #[must_use]
    pub fn for_the_log(&self) -> Option<String> {
        matches!(self, Self::NotAllowed(_) | Self::Private(_)).then(|| self.to_string())
    }

    /// The answer, after which the connection is closed.
    #[must_use]
    pub fn answer(&self) -> Vec<u8> {
        let text = self.to_string();
        let length = text.len() + 1;
        format!(
            "HTTP/1.1 {}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\n\
             Proxy-Status: {EGRESS}; error={}\r\nConnection: close\r\n\r\n{text}\n",
            self.status(),
            self.kind()
        )
        .into_bytes()
    }

    fn status(&self) -> &'static str {
        match self {
            Self::NotAllowed(_) | Self::Private(_) => "403 Forbidden",
            Self::Malformed(_) => "400 Bad Request",
            Self::Slow => "408 Request Timeout",
            Self::TooLarge => "431 Request Header Fields Too Large",
            Self::TooMany => "503 Service Unavailable",
            Self::Unresolved(..) | Self::Unreachable(..) => "502 Bad Gateway",
        }
    }

    /// The kind of error in the words of RFC 9209.
    fn kind(&self) -> &'static str {
        match self {
            Self::NotAllowed(_) => "http_request_denied",
            Self::Private(_) => "destination_ip_prohibited",
            Self::Malformed(_) | Self::Slow | Self::TooLarge => "http_request_error",
            Self::TooMany => "connection_limit_reached",
            Self::Unresolved(..) => "dns_error",
            Self::Unreachable(..) => "destination_unavailable",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAllowed(target) => {
                let rule = target.rule();
                write!(
                    f,
                    "refused {target}{NOT_ALLOWED}; to allow it: harbor sandbox NAME --host {}",
                    shell(&rule)
                )
            }
            Self::Private(target) => write!(
                f,
                "refused {target}: this name has no public address; to use a private one, give the server its IP \
                 address and allow that: harbor sandbox NAME --host ADDRESS:{}",
                target.port
            ),
            Self::Malformed(why) => write!(f, "malformed: {why}"),
            Self::Slow => write!(f, "the head of the request did not arrive in time"),
            Self::TooLarge => write!(f, "the head of the request is too long"),
            Self::TooMany => write!(f, "too many connections are open"),
            Self::Unresolved(target, why) => write!(f, "{target} could not be resolved: {why}"),
            Self::Unreachable(target, why) => write!(f, "{target} could not be reached: {why}"),
        }
    }
}
