//! The servers that there are: how one is installed, defined, upgraded and removed.
//!
//! ```text
//!  source ─► what it is ─► preview ─► yes ─► trial: installed beside, started, lists its tools ─► lock, definition, server
//!               entry,      staged            │ fails, or the client leaves: nothing is left              │
//!               repository  for its client    ▼                                                           ▼
//!                                          next try                                        first start, with all of the person's
//!
//!  upgrade ─► preview ─► trial beside the version in use, with nothing of the person's ─► differences ─► yes ─► lock ─► restart
//!  undo ────────────────────────────────────────────────────────────────────────► the lock before ─► restart
//! ```
//!
//! Owns what waits for a yes, and that changes of definitions happen one after the other. Must never know who is connected: a
//! request comes with its sender and a way to tell steps. Must never take a preview for a yes.

mod adding;
mod arguments;
mod audit_record;
mod claims;
mod declared;
mod definition;
mod differences;
mod direct;
mod direct_request;
mod entries;
mod failures;
mod filling;
mod installations;
mod installed;
mod kept_values;
mod looking;
mod modules;
mod next_try;
mod package_request;
mod packages;
mod planning;
mod programs;
mod read_source;
mod remote_definition;
mod removing;
mod replacing;
mod sandbox_change;
mod sandbox_settings;
mod scripts;
pub(crate) mod secrets;
mod source_kinds;
mod sources;
mod staged;
mod start_preview;
mod supervision_change;
mod switching;
mod trial;
mod trial_advice;
mod upgrades;

use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{
    AddRemoteServer, AddRemoteServerResult, AddServer, AddServerResult, CheckRuntimesResult,
    GetCuratedListResult, GetServerStatusResult, HostAcceptServerChange, InstallServer, InstallServerResult,
    ListInstalledResult, RemoveServer, RemoveServerResult, ResolveServer, ResolveServerResult, SetSandbox,
    SetSupervision, SetSupervisionResult, UndoUpgradeResult, UninstallServer, UninstallServerResult,
    UpdateServerArgs, UpdateServerArgsResult, UpgradeServer, UpgradeServerResult,
};
use harbor_ipc_proto::server_id::ServerId;

use crate::host::asker::Sender;
use crate::host::to_the_end;
use crate::supervisor::Server;

pub(crate) use audit_record::about;
pub use installations::{InstallCaller, Installations};

/// Installation and upgrade.
impl Installations {
    /// Finds what a source is, and what its installation needs.
    pub(crate) async fn resolve(
        self: &Rc<Self>,
        caller: &InstallCaller,
        message: ResolveServer,
    ) -> Result<ResolveServerResult, ErrorBody> {
        sources::resolve(self, caller, message).await
    }

    /// The entries that Harbor brings along.
    pub(crate) fn curated(&self) -> Result<GetCuratedListResult, ErrorBody> {
        sources::curated(self)
    }

    /// The error for an id that nothing has.
    pub(crate) async fn unknown(&self, id: &str) -> ErrorBody {
        entries::unknown(self, id).await
    }

    /// Installs a server, or previews that.
    pub(crate) async fn install(
        self: &Rc<Self>,
        caller: &InstallCaller,
        message: InstallServer,
    ) -> Result<InstallServerResult, ErrorBody> {
        sources::install(self, caller, message).await
    }

    /// Tries another version of a package, previews it, or uses a version that was tried.
    pub(crate) async fn upgrade(
        self: &Rc<Self>,
        caller: &InstallCaller,
        message: UpgradeServer,
    ) -> Result<UpgradeServerResult, ErrorBody> {
        upgrades::upgrade(self, caller, message).await
    }

    /// Goes back to the version before.
    pub(crate) async fn undo(
        self: &Rc<Self>,
        sender: &Rc<Sender>,
        id: &ServerId,
    ) -> Result<UndoUpgradeResult, ErrorBody> {
        switching::undo(self, sender, id).await
    }

    /// One server's status, and whether its next start could succeed.
    pub(crate) async fn status(&self, id: &ServerId) -> Result<GetServerStatusResult, ErrorBody> {
        installed::status(self, id).await
    }

    /// All servers that have a package.
    pub(crate) fn list(&self) -> ListInstalledResult {
        installed::list(self)
    }

    /// The programs that servers and installers need.
    pub(crate) async fn runtimes(&self) -> Result<CheckRuntimesResult, ErrorBody> {
        programs::runtimes(self).await
    }
}

/// Definitions.
impl Installations {
    /// Defines a server, or replaces its definition.
    pub(crate) async fn add(
        self: &Rc<Self>,
        sender: &Rc<Sender>,
        message: AddServer,
    ) -> Result<AddServerResult, ErrorBody> {
        adding::add(self, sender, message).await
    }

    /// Defines a remote server, or replaces its definition.
    pub(crate) async fn add_remote(
        self: &Rc<Self>,
        sender: &Rc<Sender>,
        message: AddRemoteServer,
    ) -> Result<AddRemoteServerResult, ErrorBody> {
        adding::add_remote(self, sender, message).await
    }

    /// Removes a server, or the remains of an earlier server of its name.
    pub(crate) async fn remove(
        self: &Rc<Self>,
        sender: &Rc<Sender>,
        message: RemoveServer,
    ) -> Result<RemoveServerResult, ErrorBody> {
        removing::remove(self, sender, message).await
    }

    /// Removes a server that has a package.
    pub(crate) async fn uninstall(
        self: &Rc<Self>,
        sender: &Rc<Sender>,
        message: UninstallServer,
    ) -> Result<UninstallServerResult, ErrorBody> {
        let UninstallServer { server_id, data } = message;
        installed::locked(self, &*self.host.server(&server_id)?)?;
        let removed = self.remove(sender, RemoveServer { server_id, data }).await?;
        Ok(UninstallServerResult { removed: removed.removed, data: removed.data })
    }

    /// Changes the arguments of a server's program.
    pub(crate) async fn set_args(
        self: &Rc<Self>,
        sender: &Rc<Sender>,
        message: UpdateServerArgs,
    ) -> Result<UpdateServerArgsResult, ErrorBody> {
        arguments::set_args(self, sender, message).await
    }

    /// Changes a server's supervision, label, arguments and variables while it lives.
    pub(crate) async fn set_supervision(
        self: &Rc<Self>,
        sender: &Rc<Sender>,
        message: SetSupervision,
    ) -> Result<SetSupervisionResult, ErrorBody> {
        supervision_change::set(self, sender, message).await
    }

    /// Changes a server's sandbox. Returns the server, and true if it starts anew for that.
    pub(crate) async fn set_sandbox(
        self: &Rc<Self>,
        sender: &Rc<Sender>,
        message: SetSandbox,
    ) -> Result<(Rc<Server>, bool), ErrorBody> {
        sandbox_change::set_sandbox(self, sender, message).await
    }

    /// The person accepts that a server runs another program now: it gets what the one before was given.
    pub(crate) async fn accept_change(
        self: &Rc<Self>,
        sender: &Rc<Sender>,
        message: HostAcceptServerChange,
    ) -> Result<(), ErrorBody> {
        let (installs, sender) = (self.clone(), sender.clone());
        to_the_end(async move {
            let HostAcceptServerChange { server_id, program } = message;
            let _changing = installs.changing.lock().await;
            installs.host.accept_server(&sender, &server_id, &program).await?;
            let all = installs.supervisor.secrets().of(server_id.as_str()).await;
            if let (Ok(all), Some(server)) = (all, installs.supervisor.get(&server_id)) {
                server.has_secrets_now(&all);
            }
            Ok(())
        })
        .await
    }
}
