//! Why a script gets no answer.
//!
//! Owns the sentences for its author: each says what was wrong or what to do. Must never name more of a URL than host and port.

use std::fmt;
use std::time::Duration;

use harbor_ipc_proto::link::fetch::MAX_BODY;
use harbor_web::redirect::MAX_REDIRECTS;
use harbor_web::trouble::Trouble;

/// Why there is no answer. A place is a host with its port.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FetchFailure {
    /// The script's request is none.
    Request(&'static str),
    /// This header of it is none.
    Header(String),
    /// The proxy does not let it through.
    Proxy(String),
    /// The proxy is gone.
    NoProxy,
    /// The redirect is not followed.
    Redirect(&'static str),
    /// There are too many redirects.
    Redirects,
    /// This place took longer than that.
    Slow(String, Duration),
    /// This place sends more than is taken.
    TooLong(String),
    /// This place answers in an encoding that nobody asked for.
    Packed(String),
    /// The connection.
    Trouble(Trouble),
}

impl fmt::Display for FetchFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(why) | Self::Redirect(why) => f.write_str(why),
            Self::Header(name) => write!(f, "the header {name:.60} is not a name and one line of Latin-1"),
            Self::Proxy(why) => f.write_str(why),
            Self::NoProxy => f.write_str("its egress proxy has ended; restart the server"),
            Self::Redirects => write!(f, "the server redirects more than {MAX_REDIRECTS} times"),
            Self::Slow(place, limit) => write!(
                f,
                "{place} did not answer whole within {} s; `-- --fetch-time SECONDS` allows more",
                limit.as_secs_f64()
            ),
            Self::TooLong(place) => {
                write!(f, "the answer of {place} is longer than {} MiB; ask for a part of it", MAX_BODY >> 20)
            }
            Self::Packed(place) => write!(f, "{place} answered packed, though nobody asked for that"),
            Self::Trouble(trouble) => trouble.fmt(f),
        }
    }
}
