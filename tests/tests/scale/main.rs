//! What is measured: allocations, memory, time at large numbers. Each runs alone (`.config/nextest.toml`).
//!
//! allocation-counter's allocator is that of this binary, and of no other test.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "test support"
)]

mod allocations;
mod catalog;
