//! The interpreter of one MCP server that is a module of WebAssembly.
//!
//! ```text
//!  FILE ─► module (a program of WASI preview 1) ─► engine ─► system: stdin, stdout, stderr, clocks, random numbers,
//!                                                    │               variables, arguments, granted directories
//!                                                    └─ limits: time of a stretch, memory, depth of calls
//! ```
//!
//! Owns what a module can reach, and how long and how large it may get. It runs below `harbor-runner` as any server's program
//! does, which has the sandbox, the restarts and the logs. Must never open a file outside the granted directories but the
//! module, start a program, or open a connection.

mod directories;
mod ending;
mod engine;
mod input;
mod limiter;
mod module;
mod options;
pub mod program;
mod read_only;
mod stretch;
mod system;
mod waiting;
