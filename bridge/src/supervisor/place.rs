//! Where a start of a server runs.
//!
//! Owns that form: a runner, and the start's number there. Must never end either.

use std::rc::Rc;

use crate::link::runner::Runner;

/// The runner of a start, and its number there.
#[derive(Debug, Clone)]
pub(super) struct RunnerPlace {
    pub runner: Rc<Runner>,
    pub number: u32,
}
