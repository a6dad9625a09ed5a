//! Tools that are called without asking in every session, as the person has said.
//!
//! Owns that a yes is for the tool as it was then: one that has changed asks again. What goes away with a revocation goes at once; what the
//! disk refuses is said.

use std::cell::RefCell;
use std::collections::BTreeMap;

use harbor_home::clock::wall_clock;

use crate::host::Usable;
use crate::store::StoreError;
use crate::store::approvals::{Approval, ToolApprovals};

/// The tools.
#[derive(Debug)]
pub struct Always {
    table: ToolApprovals,
    tools: RefCell<BTreeMap<String, Approval>>,
}

impl Always {
    /// Those of this table.
    ///
    /// # Errors
    /// When it cannot be read.
    pub async fn open(table: ToolApprovals) -> Result<Self, StoreError> {
        let tools = RefCell::new(table.all().await?);
        Ok(Self { table, tools })
    }

    /// Whether a tool is one of them, as it is now.
    #[must_use]
    pub fn has(&self, usable: &Usable) -> bool {
        self.tools.borrow().get(&name(usable)).is_some_and(|approval| approval.hash == usable.tool.hash)
    }

    /// The person has said so. It holds from now on, and is stored.
    ///
    /// # Errors
    /// When it is not stored: then it holds until the bridge ends.
    pub async fn add(&self, usable: &Usable) -> Result<(), StoreError> {
        let approval = Approval { hash: usable.tool.hash, at: wall_clock() };
        self.tools.borrow_mut().insert(name(usable), approval);
        self.table.put(&name(usable), approval).await
    }

    /// Not any more; whether it was one of them.
    ///
    /// # Errors
    /// When the disk still has it: it would be one of them again when the bridge starts.
    pub async fn remove(&self, tool: &str) -> Result<bool, StoreError> {
        let was = self.tools.borrow_mut().remove(tool).is_some();
        Ok(self.table.remove(tool).await? || was)
    }

    /// All of them, and since when, in milliseconds since 1970.
    #[must_use]
    pub fn all(&self) -> Vec<(String, u64)> {
        self.tools.borrow().iter().map(|(tool, approval)| (tool.clone(), approval.at)).collect()
    }
}

fn name(usable: &Usable) -> String {
    format!("{}/{}", usable.source, usable.tool.name)
}
