//! Processes: starting, signalling and reaping them, and the pipes to and from them.
//!
//! The only crate with `unsafe`, and the place for code that is not portable. Owns what a process does to
//! itself before it becomes a server (`launcher`), what holds a runner's processes together (`namespace`), the one
//! reaper of each process (`reaper`), the write queue in front of each pipe (`outbox`) and the one read (`reading`), and whose turn it is (`turn`). Must
//! never know what the processes are for: no MCP, no JSON.

pub mod capacity;
mod caps;
pub mod cgroup;
pub mod dying;
pub mod instructions;
pub mod interpreter;
pub mod launcher;
pub mod leftovers;
pub mod link;
mod mark;
pub mod memory;
pub mod mounted;
pub mod namespace;
pub mod outbox;
pub mod own;
mod passing;
pub mod reading;
pub mod reaper;
pub mod sandbox;
pub mod signals;
pub mod socket;
pub mod spawn;
pub mod still;
pub mod turn;
pub mod unmounting;
pub mod usage;
mod user_maps;

/// Names of signals, so that callers need no crate of their own for them.
pub mod signal {
    pub use nix::sys::signal::Signal;
}
