//! Every wire type of Harbor, and nothing else.
//!
//! Owns: the frames of the local socket and of native messaging, the client messages (JSON), the link messages to runners
//! and workers (bincode), and the error codes. Also the files that a download leaves, and the answer of a check of the
//! bridge's files.
//! Must never: do I/O, read a clock, keep state between messages other than half a frame.
//!
//! ```text
//!  browser, CLI, MCP client ── u32 LE length + JSON ──► bridge ── u32 LE length + bincode ──► runner
//!          client::*                                            link::*
//! ```

pub mod check;
pub mod client;
pub mod codes;
pub mod contained;
pub mod download;
pub mod field;
pub mod frame;
pub mod hex;
pub mod hidden;
pub mod json;
pub mod link;
pub mod members;
pub mod model;
pub mod root_schema;
pub mod secret;
pub mod server_id;
pub mod source_id;
pub mod strings;
pub mod via;

/// Version of the client protocol (the JSON messages). Raised when a change would break an old peer.
pub const CLIENT_PROTOCOL: u32 = 1;

/// Version of the runner and worker links. Raised with every change that is not an append.
pub const LINK_PROTOCOL: u32 = 11;

/// The build of this code: the package version and, if the build scripts give it, a commit. Both ends of a link must have
/// the same build.
pub const BUILD: &str = match option_env!("HARBOR_BUILD") {
    Some(build) => build,
    None => concat!(env!("CARGO_PKG_VERSION"), "-dev"),
};
