//! The agent: turns with tools, approvals, sessions, runs; the model is scripted, all else is real.

mod approvals;
mod attachments;
mod branches;
mod ends;
mod faults;
mod long;
mod memory;
mod owned;
mod plans;
mod questions;
mod runs;
mod scene;
mod scripts;
mod search;
mod sessions;
mod text_calls;
mod text_faults;
mod turns;
mod typed;

pub use harbor_tests::provider;
