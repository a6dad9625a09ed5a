//! The agent: turns with tools, approvals, sessions, runs; the model is scripted, all else is real.

mod approvals;
mod faults;
mod memory;
mod owned;
pub mod provider;
mod runs;
mod scene;
mod sessions;
mod turns;
mod typed;
