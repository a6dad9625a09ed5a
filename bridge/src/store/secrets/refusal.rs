//! The refusal of a file that cannot be used as it is.
//!
//! Must never repeat what is in it.

use std::io;
use std::path::Path;

use super::super::{StoreError, failed};

pub(super) fn refused(path: &Path, why: &str) -> StoreError {
    failed("use", path)(io::Error::new(io::ErrorKind::InvalidData, why))
}
