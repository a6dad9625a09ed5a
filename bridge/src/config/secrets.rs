//! Where secrets are kept.
//!
//! Owns the rule for the passphrase's file. Must never open it: the store does, when it needs it.

use std::path::{Path, PathBuf};

use harbor_policy::secret_store::Choice;

/// The rule for the passphrase's file, as an error tells it.
pub const FILE_RULE: &str = "the absolute path of a file with the passphrase";

/// The settings for secrets in `config.toml`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SecretsConfig {
    /// The person's choice of the place.
    pub store: Choice,
    /// A file with their passphrase.
    pub passphrase_file: Option<PathBuf>,
}

/// The path, if it is one that `harbor config show` can show again.
#[must_use]
pub fn passphrase_file(text: &str) -> Option<PathBuf> {
    let is_plain = !text.chars().any(|c| c.is_control() || matches!(c, '"' | '\\'));
    (is_plain && Path::new(text).is_absolute()).then(|| text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_absolute_path_is_taken() {
        assert_eq!(passphrase_file("/etc/a b"), Some("/etc/a b".into()));
        for text in ["", "a", "~/a", "./a", "/a\n", "/a\"", "/a\\b"] {
            assert_eq!(passphrase_file(text), None, "{text}");
        }
    }
}
