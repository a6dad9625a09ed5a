//! The name of a server definition: `^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$` without `..` or `__`.
//!
//! It becomes a directory name and one half of `server/tool`. So it is checked once, here, where it comes in.

use std::fmt;
use std::sync::Arc;

/// A checked server id; costs nothing to clone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerId(pub(crate) Arc<str>);

/// The rule for server ids, for error messages.
pub const RULE: &str =
    "1 to 64 letters, digits, '.', '_' or '-', starting with a letter or digit, without '..' or '__'";

/// How the ids of engines begin.
const ENGINE: &str = "engine.";

impl ServerId {
    /// Checks `text`; `None` when it breaks [`RULE`].
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let plain = |b: &u8| b.is_ascii_alphanumeric() || b"._-".contains(b);
        let ok = bytes.len() <= 64
            && bytes.first().is_some_and(u8::is_ascii_alphanumeric)
            && bytes.iter().all(plain)
            && bytes.windows(2).all(|pair| !matches!(pair, b".." | b"__"));
        ok.then(|| Self(text.into()))
    }

    /// The id under which an engine named `name` has its log; `None` when it breaks [`RULE`]. No server may have it.
    #[must_use]
    pub fn of_engine(name: &str) -> Option<Self> {
        Self::parse(&format!("{ENGINE}{name}"))
    }

    /// True if it is an engine's.
    #[must_use]
    pub fn is_of_engine(&self) -> bool {
        self.0.starts_with(ENGINE)
    }

    /// The id as text that costs nothing to keep.
    #[must_use]
    pub fn shared(&self) -> Arc<str> {
        self.0.clone()
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ServerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::borrow::Borrow<str> for ServerId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule() {
        let long = "a".repeat(64);
        for good in ["a", "9", "time", "my.server-1_x", long.as_str()] {
            assert!(ServerId::parse(good).is_some(), "{good}");
        }
        let longer = "a".repeat(65);
        for bad in ["", ".a", "-a", "_a", "a..b", "a__b", "a/b", "a b", "ä", "a\n", longer.as_str()] {
            assert!(ServerId::parse(bad).is_none(), "{bad}");
        }
    }
}
