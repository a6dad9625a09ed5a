//! The failure to keep what browsers are told.
//!
//! Must never be used for a file that is not Harbor's own.

use std::io;

use harbor_client::errors::Failure;

/// A failure that is about what Harbor itself keeps.
pub(super) fn own_failure(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Failure {
    Failure::Io("keep what browsers are told", io::Error::other(error))
}
