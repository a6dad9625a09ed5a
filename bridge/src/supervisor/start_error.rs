//! Why a server could not be started.
//!
//! Owns that form.

use std::rc::Rc;

use crate::link::EndReport;

/// Why a server could not be started.
#[derive(Debug, Clone)]
pub enum StartError {
    /// It was tried, and failed.
    Failed(Rc<EndReport>),
    /// Somebody stopped it meanwhile.
    Stopped,
}
