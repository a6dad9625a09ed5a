//! A remote server, in the words of the link.

use std::borrow::Cow;

use bincode::{BorrowDecode, Encode};

use crate::link::oauth::Grant;

/// The address of a remote server, and how to speak to it.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Remote<'a> {
    /// `http://` or `https://`, without user information.
    pub url: Cow<'a, str>,
    /// How messages are carried.
    pub transport: Transport,
    /// Headers that go with each request to that host, and to no other. They may be secret.
    pub headers: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    /// True if the host's name may mean a private address.
    pub allow_private: bool,
    /// True if the server may be used without TLS although it is not on this machine.
    pub allow_http: bool,
    /// The login for the server, if there is one.
    pub grant: Option<Grant>,
}

/// How messages are carried to a remote server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, BorrowDecode)]
pub enum Transport {
    /// Streamable HTTP; HTTP+SSE if the server speaks only that.
    Auto,
    /// Streamable HTTP.
    Http,
    /// HTTP+SSE, as of 2024-11-05.
    Sse,
}

/// Why a remote server cannot be used, or no longer can.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, BorrowDecode)]
pub enum RemoteEnd {
    /// No connection can be made.
    Unreachable,
    /// It wants to know who the caller is.
    Unauthorized,
    /// It has forgotten the MCP session.
    SessionLost,
    /// Harbor's own rules forbid the connection.
    Forbidden,
    /// TLS cannot be set up.
    Tls,
    /// The program that answers there is no MCP server.
    NoMcp,
    /// The person must let Harbor in, or must do so again.
    NeedsAuthorization,
    /// The person was asked to let Harbor in, without success.
    NotAuthorized,
}
