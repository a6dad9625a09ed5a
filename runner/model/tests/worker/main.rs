//! The real worker at its link, and a scripted provider on the real wire.
//!
//! ```text
//!  test ── Driven (the bridge's end of the link) ──► harbor-model-worker ──► Server (127.0.0.1, a script for each request)
//! ```
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

mod answers;
mod driven;
mod faults;
mod lists;
mod server;
mod speech;
mod starts;
