//! Servers that the person defines by hand: a command, an image, a remote server.
//!
//! Owns the order: the audit log, then the definition, then the server. Must never start what it defines.

use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{
    AddRemoteServer, AddRemoteServerResult, AddServer, AddServerResult, SandboxSettings,
};
use harbor_ipc_proto::field::Message as _;

use super::audit_record::about;
use super::claims::{may_be_named, not_claimed};
use super::definition::definition;
use super::installations::Installations;
use super::modules::{self, WantedModule};
use super::replacing::{PutServer, of_installation, old_data, put, stored};
use super::sandbox_settings::may_be_granted;
use super::{kept_values, remote_definition, scripts};
use crate::host::asker::Sender;
use crate::host::{server_view, to_the_end};
use crate::store::definitions::Definition;

pub(super) async fn add(
    installs: &Rc<Installations>,
    sender: &Rc<Sender>,
    mut message: AddServer,
) -> Result<AddServerResult, ErrorBody> {
    kept_values::keep(installs, &message.server_id, message.keep_env.take(), "keep_env", &mut message.env)?;
    scripts::keep(installs, &mut message);
    let (server_id, keep_data) = (message.server_id.clone(), message.keep_data == Some(true));
    let module = modules::wanted(installs, &mut message).await?;
    let definition = Definition {
        module: module.as_ref().map(WantedModule::sha256),
        ..of_installation(installs, &server_id, definition(message)?)
    };
    may_be_named(&server_id)?;
    not_claimed(installs, &server_id).await?;
    may_be_granted(&installs.supervisor, &server_id, &definition).await?;
    let (installs, sender) = (installs.clone(), sender.clone());
    to_the_end(async move {
        installs.host.trail.decided(AddServer::TAG, &sender, about(&server_id), true).await?;
        let changing = installs.changing.lock().await;
        let module_dir = installs.supervisor.module_dir(&server_id);
        modules::keep(module_dir.clone(), module).await?;
        installs.definitions.put(&server_id, &definition).await.map_err(|error| stored(&error))?;
        modules::forget_others(module_dir, definition.module.clone()).await;
        let says = definition.sandbox.clone();
        // Before the server can run and write there itself.
        let old_data = old_data(&installs, &server_id, &definition, keep_data).await?;
        let PutServer { server, before, program_change } =
            put(&installs, changing, server_id, definition).await?;
        let old_sandbox = before.as_ref().map(|before| before.definition().sandbox.clone());
        let old_sandbox = old_sandbox.filter(|old| *old != says && *old != SandboxSettings::default());
        let (server, replaced) = (server_view(&installs.host, &server), before.is_some());
        Ok(AddServerResult { server, replaced, old_data, old_sandbox, program_change })
    })
    .await
}

pub(super) async fn add_remote(
    installs: &Rc<Installations>,
    sender: &Rc<Sender>,
    mut message: AddRemoteServer,
) -> Result<AddRemoteServerResult, ErrorBody> {
    let server_id = message.server_id.clone();
    kept_values::keep(installs, &server_id, message.keep_env.take(), "keep_env", &mut message.env)?;
    kept_values::keep(
        installs,
        &server_id,
        message.keep_headers.take(),
        "keep_headers",
        &mut message.headers,
    )?;
    if message.keep_url == Some(true) {
        message.url = kept_values::url(installs, &server_id)?;
    }
    let definition = remote_definition::definition(message)?;
    may_be_named(&server_id)?;
    not_claimed(installs, &server_id).await?;
    let (installs, sender) = (installs.clone(), sender.clone());
    to_the_end(async move {
        installs.host.trail.decided(AddRemoteServer::TAG, &sender, about(&server_id), true).await?;
        let changing = installs.changing.lock().await;
        installs.definitions.put(&server_id, &definition).await.map_err(|error| stored(&error))?;
        let PutServer { server, before, program_change } =
            put(&installs, changing, server_id, definition).await?;
        Ok(AddRemoteServerResult {
            server: server_view(&installs.host, &server),
            replaced: before.is_some(),
            program_change,
        })
    })
    .await
}
