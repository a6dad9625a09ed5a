//! The things that all servers share.
//!
//! Owns nothing of its own: each is another room's.

use std::rc::Rc;
use std::sync::Arc;

use harbor_home::Paths;
use harbor_policy::sandbox::offer::Lowered;

use super::leftovers::Leftovers;
use crate::config::LiveConfig;
use crate::link::runner::Marks;
use crate::runtimes::Runtimes;
use crate::store::definition_table::Definitions;
use crate::store::locks::Locks;
use crate::store::secrets::Secrets;
use crate::store::server_logs::ServerLogs;
use crate::store::written_places::WrittenPlaces;

/// The things that all servers share.
#[derive(Debug)]
pub struct SupervisorParts {
    /// The paths of data directories.
    pub paths: Paths,
    /// The store of learnt facts.
    pub definitions: Rc<Definitions>,
    /// The places where servers could ever write.
    pub written: WrittenPlaces,
    /// Their secrets.
    pub secrets: Secrets,
    /// The store of their logs.
    pub logs: ServerLogs,
    /// The versions of their packages.
    pub locks: Locks,
    /// The files that they leave in their temporary directories.
    pub leftovers: Leftovers,
    /// Finds the programs that they need.
    pub runtimes: Arc<Runtimes>,
    /// The marks by which this Harbor is known.
    pub marks: Marks,
    /// The settings of `config.toml`.
    pub config: Rc<LiveConfig>,
    /// The features of the kernel that sandboxes are not to use.
    pub offered: Lowered,
}
