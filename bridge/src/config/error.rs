//! A setting that cannot be used, and what would be right.
//!
//! Must never repeat a secret.

use std::fmt;

use harbor_home::PathError;

/// A setting that cannot be used, and what would be right.
#[derive(Debug, PartialEq, Eq)]
pub struct ConfigError(pub(super) String);

impl ConfigError {
    /// A file that was there is no more.
    #[must_use]
    pub fn gone() -> Self {
        Self("config.toml is missing; restore it, or create an empty one for the defaults".into())
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConfigError {}

impl From<PathError> for ConfigError {
    fn from(error: PathError) -> Self {
        Self(error.to_string())
    }
}
