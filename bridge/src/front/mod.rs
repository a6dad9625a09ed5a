//! Bytes in, bytes out: the native host's relay, the local socket, `serve --stdio`, metrics over HTTP, the service manager.
//!
//! Owns connections: their frames, their first frame, their end. Must never know what a message means beyond
//! `attach`; the router does.

pub mod connection;
mod descriptor_reserve;
pub mod metrics;
pub mod notify;
pub mod relay;
pub mod socket;
pub mod stdio;
