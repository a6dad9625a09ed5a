//! The messages between the bridge and its clients: browser, command line, MCP clients.
//!
//! ```text
//!  client                                                         bridge
//!  request struct ─answer::request_frame─► frame ─envelope::Incoming::parse─► Request
//!  reply struct ◄─answer::Heard::parse──── frame ◄─envelope::Envelope::put_reply─ reply struct
//! ```
//!
//! One macro entry makes a message's type, its reader, its writer, its section of `harbor docs protocol` and its type in TypeScript, so
//! that they cannot drift apart; a request names its reply. Must never hold behaviour: what a message does is the bridge's business.

mod agent;
pub mod answer;
mod approvals;
mod catalog;
mod credentials;
mod define;
pub mod docs;
mod engines;
pub mod envelope;
mod host;
#[cfg(test)]
mod house;
mod install;
mod models;
mod oauth;
mod objects;
mod pushes;
mod replies;
mod requests;
#[cfg(test)]
mod round_trip;
pub mod sample;
mod sandbox;
mod schema;
mod stats;
mod status;
mod supervision;
mod tool_sources;
pub mod typescript;

pub(crate) use define::{define_category, define_requests, define_sent, define_settings, is_option};

pub use agent::*;
pub use approvals::*;
pub use catalog::*;
pub use credentials::*;
pub use engines::*;
pub use host::*;
pub use install::*;
pub use models::*;
pub use oauth::*;
pub use objects::*;
pub use pushes::*;
pub use replies::*;
pub use requests::*;
pub use sandbox::*;
pub use schema::status_schema;
pub use stats::*;
pub use status::*;
pub use supervision::*;
pub use tool_sources::*;

/// One field, for the documentation.
#[derive(Debug, Clone, Copy)]
pub struct FieldDoc {
    /// Its name on the wire.
    pub name: &'static str,
    /// The type of its value.
    pub kind: &'static str,
    /// The type of the members, for an array or a map; otherwise empty.
    pub member: &'static str,
    /// True if the field may be absent.
    pub optional: bool,
    /// Its meaning.
    pub doc: &'static str,
}

/// One message, for the documentation.
#[derive(Debug, Clone, Copy)]
pub struct MessageDoc {
    /// Its `type` on the wire. For an object inside messages: its name.
    pub tag: &'static str,
    /// Its meaning.
    pub doc: &'static str,
    /// Its fields, without those of the envelope.
    pub fields: &'static [FieldDoc],
    /// Writes a sample of the message and reads it back.
    #[cfg(test)]
    pub(crate) round_trip: fn(&mut round_trip::Dice),
}
