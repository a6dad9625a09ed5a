//! `harbor mcp --http` as AI clients and web pages meet it.

mod gate;
mod harbors;
mod modern;
mod sessions;
pub mod wire;
