//! The parts of a server, each a type that owns one thing.
//!
//! ```text
//!  Server ─┬ identity     which server it is, and what the person said about it
//!          ├ life         where it is in its life, and who waits for a change
//!          ├ place        where it runs: its present start
//!          ├ package      what is installed for it
//!          ├ lists        what it has told: lists, log
//!          ├ usage        how it is used: calls, signs of life
//!          ├ confinement  what holds it, and what it was refused
//!          ├ secrets      what it was given, and what it lacks
//!          └ instances    the servers beside it
//! ```
//!
//! Owns the server's state. Must never know the server: what concerns two parts is the server's, in the files beside this
//! directory. No part gives out a cell.

pub(super) mod confinement;
pub(super) mod engine;
pub(super) mod identity;
pub(super) mod instances;
pub(super) mod life;
pub(super) mod lists;
pub(super) mod on_disk;
pub(super) mod package;
pub(super) mod place;
pub(super) mod secrets;
pub(super) mod start_remains;
pub(super) mod trial;
pub(super) mod usage;
