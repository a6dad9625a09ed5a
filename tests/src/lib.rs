//! The harness of the end-to-end tests, and what the test doubles share with it.
//!
//! ```text
//!  test ── Client ──► Bridge (serve --stdio) ──► runner ──► misbehaving-server, echo-server, real servers
//!             └─ the same over the local socket (Client::attach) and over the native host (Relay)
//!  Home: one HARBOR_HOME per test; at its end it demands that every process that belonged to it is gone
//! ```
//!
//! Owns starting the product's programs, speaking to them in frames, and cleaning up. Must never reach into the
//! product's code: it sees what a browser would see, and only `ipc-proto` is shared, except by `fuzz` and `steps`, which
//! drive single parsers and writers. Waiting is always for an event with a deadline.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "test support"
)]

pub mod attacker;
pub mod authority;
pub mod bridge;
pub mod browser;
pub mod catalog;
pub mod client;
pub mod direct;
pub mod double;
pub mod downloads;
pub mod faults;
pub mod fuzz;
pub mod git;
pub mod home;
pub mod http_server;
pub mod npm_registry;
pub mod podman;
pub mod processes;
pub mod program;
pub mod programs;
pub mod provider;
pub mod pypi_index;
pub mod random;
pub mod registry;
pub mod rights;
pub mod rmcp_server;
pub mod said;
pub mod scripted;
pub mod small_disk;
pub mod steps;
pub mod terminal;
pub mod tls;
pub mod wasm;
pub mod web_page;

use std::time::Duration;

pub use attacker::{Attacker, Attempt};
pub use authority::Authority;
pub use bridge::{Bridge, Relay};
pub use client::{Answer, Asker, Client, ErrorValue, Pending, Speaker};
pub use direct::Direct;
pub use double::{Double, Journal};
pub use downloads::Downloads;
pub use faults::Fault;
pub use home::Home;
pub use http_server::{HttpServer, token};
pub use podman::Podman;
pub use processes::{Process, wait_until};
pub use program::Program;
pub use registry::Registry;
pub use said::said;
pub use scripted::Scripted;
pub use terminal::Terminal;

/// How long anything may take that is not itself about time. Generous: the machine may be busy.
pub const LIMIT: Duration = Duration::from_secs(30);

/// How long a download of a package may take.
pub const INSTALL: Duration = Duration::from_secs(300);

/// How long Harbor may take until everything that it started is gone.
pub const DOWN_LIMIT: Duration = Duration::from_secs(5);

/// How soon "promptly" is: far below any timeout that could have fired instead.
pub const PROMPT: Duration = Duration::from_secs(5);
