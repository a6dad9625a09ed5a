//! The person's and the host's decisions about suspended servers.
//!
//! Owns when the program of a server is accepted. Must never pass on what was given to the one before without the person.

use std::rc::Rc;

use harbor_ipc_proto::client::ServerChange;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::server_id::ServerId;
use harbor_ipc_proto::source_id::SourceId;
use harbor_policy::tool_name::Allowlist;

use super::Host;
use super::asker::Sender;
use super::source::ToolSource;
use crate::store::StoreError;
use crate::store::audit::AuditRecord;
use crate::supervisor::Server;

impl Host {
    /// A server was removed: the next server of this name is compared with the earlier programs.
    pub fn forget_server(&self, id: &ServerId) {
        self.suspended.forget(id);
        self.consent.forget_source(id.as_str());
    }

    /// The change of a server that runs another program than before. The person must accept it.
    #[must_use]
    pub fn server_change(&self, id: &ServerId) -> Option<ServerChange> {
        self.suspended.change(&id.into())
    }

    /// All servers that run another program than before; or this one, if it does.
    #[must_use]
    pub fn server_changes(&self, only: Option<&SourceId>) -> Vec<ServerChange> {
        self.suspended.changes(only)
    }

    /// Accepts that a server runs another program than before, if it is this one. Grants count again, its
    /// tools are those of the new program, and it gets the secrets at its next start.
    ///
    /// # Errors
    /// When it runs no other program, or another one by now; and when that cannot be written down.
    pub async fn accept_server(
        &self,
        sender: &Sender,
        id: &ServerId,
        program: &str,
    ) -> Result<(), ErrorBody> {
        let server = self.server(id)?;
        if self.server_change(id).is_none_or(|change| change.after != program) {
            let message = format!("{id} no longer runs that program; look at the change and accept that");
            return Err(ErrorBody::new(Code::InvalidParams, message).with("field", "program"));
        }
        let record = AuditRecord { server: Some(id.shared()), decision: "allowed", ..AuditRecord::default() };
        self.trail.decided("server_accepted", sender, record, true).await?;
        let stored = self.suspended.accept(&server, program.to_owned()).await;
        self.has_settled(&server, stored).await
    }

    /// Accepts the new program if the one before was given nothing: then there is nothing to take over.
    ///
    /// # Errors
    /// When the disk refuses.
    pub async fn settle_if_nothing_was_given(&self, id: &ServerId, has_more: bool) -> Result<(), ErrorBody> {
        let source = SourceId::from(id);
        let Some(change) = self.server_change(id) else { return Ok(()) };
        let was_given = has_more || self.registry.has_pins(&source) || self.permissions.name(&source);
        match self.supervisor.get(id).filter(|_| !was_given) {
            Some(server) => {
                let stored = self.suspended.settle(&server, change.after).await;
                self.has_settled(&server, stored).await
            }
            None => Ok(()),
        }
    }

    /// An AI client that comes for the first time was configured with these tools.
    ///
    /// # Errors
    /// When the disk refuses.
    pub(super) async fn on_named(&self, tools: &Allowlist) -> Result<(), ErrorBody> {
        for server in self.supervisor.all() {
            if tools.of_source(&server.id().into()).is_some() {
                self.suspended.on_named(&server).await.map_err(|error| unstored(&error))?;
            }
        }
        Ok(())
    }

    async fn has_settled(
        &self,
        server: &Rc<Server>,
        stored: Result<(), StoreError>,
    ) -> Result<(), ErrorBody> {
        stored.map_err(|error| unstored(&error))?;
        let source = SourceId::from(server.id());
        // The pins are those of the program before.
        self.registry.forget(&source).await;
        if let Some(tools) = ToolSource::tools(&**server) {
            self.on_tools(&source, &tools);
        }
        Ok(())
    }
}

fn unstored(error: &StoreError) -> ErrorBody {
    ErrorBody::new(Code::Internal, format!("{error}; nothing was changed"))
}
