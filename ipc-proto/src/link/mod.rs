//! The links between Harbor's own processes, a parent and its child: bincode over two anonymous pipes.
//!
//! ```text
//!   child ──► bridge   Hello { protocol, build }      first message in each direction
//!   bridge ──► child   Hello { protocol, build }
//!   then ToRunner / FromRunner (or ToWorker / FromWorker, ToModel / FromModel), in any order, until one side closes
//! ```
//!
//! Messages are plain structs and enums, append only: a variant's place is its number on the wire. JSON
//! travels as text. Must never contain serde types, tagged or untagged enums: bincode would accept them when
//! compiled and fail, or decode another message, when run.

pub mod codec;
pub mod fetch;
pub mod model;
pub mod oauth;
pub mod runner;
pub mod sandbox;
pub mod worker;
