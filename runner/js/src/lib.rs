//! The interpreter of one MCP server that is a script.
//!
//! ```text
//!  stdin ──► input ──► event loop ──► script (QuickJS) ──► globals ──► stdout, stderr
//!                       ▲    ▲          │
//!             fetching ─┘  timers ◄─────┘      limits: memory, stack, time of a stretch
//! ```
//!
//! Owns what a script can see, and how long and how large it may get. It runs below `harbor-runner` as any server's program
//! does, which has the sandbox, the restarts and the logs. Must never read a file but the script, open a connection, or start a
//! program but the fetch process of a server that may reach hosts.

mod ending;
mod engine;
mod event_loop;
mod fetch_calls;
mod fetching;
mod globals;
mod input;
mod options;
mod pieces;
pub mod program;
mod script;
mod stretch;
mod timers;
mod urls;
