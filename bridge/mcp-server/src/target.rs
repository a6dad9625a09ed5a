//! What a name or an address of an AI client stands for.

/// Which server is meant, and what it calls what is meant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
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
