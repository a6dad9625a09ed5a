//! The target of a name or an address that an AI client gives.

/// A server, and its own name for the target.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    pub server: String,
    pub name: String,
}

impl Target {
    /// `server/tool`.
    pub fn tool(&self) -> String {
        format!("{}/{}", self.server, self.name)
    }
}
