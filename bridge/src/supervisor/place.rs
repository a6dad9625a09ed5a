//! Where a start of a server runs.
//!
//! Owns that form: a runner, and the start's number there. Must never end either.

use std::rc::Rc;

use crate::link::runner::Runner;

/// Where a start of a server runs.
#[derive(Debug, Clone)]
pub(super) struct RunnerPlace {
    pub runner: Rc<Runner>,
    pub number: u32,
}
