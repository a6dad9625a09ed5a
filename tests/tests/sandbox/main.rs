//! The sandbox against a malicious server: each attack in each row of what a kernel may offer, as root and as an
//! ordinary user, and with the sandbox off, where it has to succeed so that its refusal elsewhere means something.
//!
//! ```text
//!  attacks/*: what, how, held by which guards ─┐
//!  rows: which guards are there in which row   ├─► expected ─┬─► table: docs/attacks.md
//!  scene: a bridge in that row, and victims    ┘             └─► suite: what really becomes of it
//! ```
//!
//! Needs Landlock, seccomp and namespaces, all of them: where one is missing, these tests fail.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "test support")]

mod attacks;
mod exits;
mod hints;
mod listeners;
mod neighbours;
mod ports;
mod removal;
mod rows;
mod scene;
mod settings;
mod suite;
mod table;
mod telling;
mod ways;
