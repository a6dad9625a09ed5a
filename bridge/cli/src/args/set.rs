//! What `harbor set` is to change, as it is typed.
//!
//! Owns its words. Must never fill in a default or check what the bridge checks.

use harbor_ipc_proto::client::Supervision;

use super::Words;
use super::supervision::setting;

/// How a server is supervised from now on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Set {
    pub server: String,
    pub changes: Supervision,
    pub label: Option<String>,
    /// Settings that go back to their default.
    pub reset: Vec<String>,
}

impl Set {
    /// Whether anything is to be changed.
    pub fn changes_something(&self) -> bool {
        *self != Self { server: self.server.clone(), ..Self::default() }
    }
}

impl Words {
    pub(super) fn set(&self) -> Result<Set, String> {
        Ok(Set {
            server: self.server()?,
            changes: self.supervision()?,
            label: self.option("--label").map(str::to_owned),
            reset: self.all("--reset").map(setting).collect::<Result<_, _>>()?,
        })
    }
}
