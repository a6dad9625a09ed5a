//! A server that runs elsewhere, in the words of the link.

use std::borrow::Cow;

use bincode::{BorrowDecode, Encode};

use crate::link::oauth::Grant;

/// Where a server is, and how it is spoken to.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Remote<'a> {
    /// `http://` or `https://`, without user information.
    pub url: Cow<'a, str>,
    /// How messages are carried.
    pub transport: Transport,
    /// Headers that go with each request to that host, and to no other. May be secret.
    pub headers: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    /// Whether its name may mean a private address.
    pub allow_private: bool,
    /// Whether it may be spoken to without TLS although it is not on this machine.
    pub allow_http: bool,
    /// What the person has let Harbor do there.
    pub grant: Option<Grant>,
}

/// How messages are carried to a server elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, BorrowDecode)]
pub enum Transport {
    /// Streamable HTTP; HTTP+SSE where the server knows only that.
    Auto,
    /// Streamable HTTP.
    Http,
    /// HTTP+SSE, as of 2024-11-05.
    Sse,
}

/// Why a server elsewhere cannot be spoken to, or no longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, BorrowDecode)]
pub enum RemoteEnd {
    /// There is no connection to be had.
    Unreachable,
    /// It wants to know who asks.
    Unauthorized,
    /// It has forgotten the session.
    SessionLost,
    /// Harbor's own rules forbid the way to it.
    Forbidden,
    /// TLS does not come about.
    Tls,
    /// What answers there is no MCP server.
    NoMcp,
    /// It wants the person to let Harbor in, or once more.
    NeedsAuthorization,
    /// Nothing came of asking the person for that.
    NotAuthorized,
}
