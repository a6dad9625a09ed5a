//! The supervisor as installations need it: a server on trial, the profile it would have, directories, programs.
//!
//! Owns the making of such a server. Must never put it into the table, since it is not defined.

use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use harbor_ipc_proto::server_id::ServerId;

use super::claims::Claim;
use super::server::{Confined, Server, TrialOf};
use super::{Supervisor, SupervisorEvent};
use crate::link::ToolList;
use crate::runtimes::Runtimes;
use crate::store::definitions::{Definition, Stored};

impl Supervisor {
    /// A server for a package on trial; or for an image or a remote server, which have no package. It is not defined yet.
    pub(crate) fn server_on_trial(&self, claim: &Claim, definition: Definition, of: TrialOf) -> Rc<Server> {
        let id = claim.id();
        let in_its_place = self.get(id).is_none() && !self.data_directory(id).exists();
        let kept = self.kept_package(id, &definition.install_env);
        let of = TrialOf { in_its_place, kept, ..of };
        let stored = Stored { server_id: id.clone(), definition, era: None };
        Server::on_trial(stored, self.runners.clone(), of)
    }

    /// The profile that would hold a server of this definition.
    ///
    /// # Errors
    /// Why it would not be started.
    pub async fn would_be_confined(
        &self,
        id: &ServerId,
        definition: &Definition,
    ) -> Result<Confined, String> {
        let stored = Stored { server_id: id.clone(), definition: definition.clone(), era: None };
        Server::new(self.look(stored).await, self.runners.clone()).would_be_confined().await
    }

    /// Tells the tools that a package, which is used now, listed when it was tried out.
    pub fn tell_tools(&self, id: &ServerId, tools: &Rc<ToolList>) {
        if let Some(server) = self.get(id) {
            server.knows(tools.clone());
        }
        self.runners.tell(&SupervisorEvent::Tools(id, tools));
    }

    /// This machine's programs.
    #[must_use]
    pub fn runtimes(&self) -> Arc<Runtimes> {
        self.runners.shared.runtimes.clone()
    }

    /// The directory of the servers' own directories.
    #[must_use]
    pub fn directory(&self) -> PathBuf {
        self.runners.shared.paths.servers()
    }

    /// The directory where a server of this name keeps its data.
    #[must_use]
    pub fn data_directory(&self, id: &ServerId) -> PathBuf {
        self.runners.shared.paths.server_data(id.as_str())
    }
}
