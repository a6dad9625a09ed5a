//! How Harbor is put into an AI client's configuration, as it is typed.

use harbor_policy::origin::Origin;

use super::Words;
use super::host::checked_pattern;

/// The name of a client that is given none.
const NAMELESS: &str = "default";

/// An AI client to serve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mcp {
    /// Its name: it is `client://NAME`.
    pub client: String,
    /// The tools that it gets; all when empty.
    pub only: Vec<String>,
    /// Whether three tools, to find and call others, stand for all.
    pub lazy: bool,
}

impl Words {
    pub(super) fn mcp(&self) -> Result<Mcp, String> {
        self.at_most(0)?;
        if self.json {
            return Err("--json has no meaning here: what is written is the protocol".into());
        }
        let client = self.option("--client").unwrap_or(NAMELESS).to_owned();
        Origin::client(&client).ok_or("--client: use 1 to 128 bytes")?;
        let only: Vec<_> = self.all("--only").map(str::to_owned).collect();
        only.iter().try_for_each(|pattern| checked_pattern("--only", pattern))?;
        Ok(Mcp { client, only, lazy: self.has("--lazy") })
    }
}
