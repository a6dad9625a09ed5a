//! The paths of this person's Harbor, as this process's environment names them.
//!
//! Must never create one.

use harbor_home::Paths;
use harbor_home::dial::DialError;

pub(super) fn paths() -> Result<Paths, DialError> {
    Paths::from_env().map_err(DialError::Config)
}
