//! `harbor mcp --http` as AI clients and web pages meet it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "test support")]

mod gate;
mod harbors;
mod modern;
mod sessions;
mod wire;
