//! The messages between the interpreter of a script and its fetch process. Append only.
//!
//! ```text
//!   interpreter ► Ask { id } ─► Answered { id } | Failed { id }    exactly one of both for each id, unless it was abandoned
//!               ► Abandon { id }                                    nobody waits for that answer any more
//!   the end of the link ─► the process ends
//! ```
//!
//! The interpreter starts it as `harbor-runner-http requests BUILD PARENT_PID PROXY` with the link as its standard input and
//! output. The build on the command line stands for a greeting.

use bincode::{BorrowDecode, Encode};

/// The longest body, of a request and of an answer, in bytes.
pub const MAX_BODY: usize = 16 * 1024 * 1024;

/// Requests that are open at one time. The interpreter keeps the further ones.
pub const MAX_OPEN: usize = 16;

/// From the interpreter to the fetch process.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub enum ToFetcher {
    /// Send a request.
    Ask(WebRequest),
    /// Forget the request with this id.
    Abandon {
        /// The id.
        id: u32,
    },
}

/// A request over HTTP.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct WebRequest {
    /// The id for the answer.
    pub id: u32,
    /// `GET`, `POST`, ….
    pub method: String,
    /// An absolute URL.
    pub url: String,
    /// Names and values; each character of a value stands for one byte.
    pub headers: Vec<(String, String)>,
    /// At most [`MAX_BODY`] bytes.
    pub body: Option<Vec<u8>>,
    /// The way of redirects.
    pub redirects: Redirects,
    /// The longest that all of it may take, in milliseconds.
    pub limit_ms: u64,
}

/// The ways in which a redirect is met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, BorrowDecode)]
pub enum Redirects {
    /// It is followed.
    Follow,
    /// It is an error.
    Error,
    /// It is the answer.
    Manual,
}

/// From the fetch process to the interpreter.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub enum FromFetcher {
    /// The whole answer.
    Answered(Answer),
    /// There is none.
    Failed {
        /// The request's id.
        id: u32,
        /// A sentence for the script's author.
        why: String,
    },
}

/// An answer over HTTP.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Answer {
    /// The request's id.
    pub id: u32,
    /// 200, 404, ….
    pub status: u16,
    /// The usual words for the status.
    pub status_text: String,
    /// Where it came from, after redirects.
    pub url: String,
    /// True if a redirect was followed.
    pub redirected: bool,
    /// As of [`WebRequest::headers`].
    pub headers: Vec<(String, String)>,
    /// At most [`MAX_BODY`] bytes.
    pub body: Vec<u8>,
}

#[cfg(test)]
mod golden;
