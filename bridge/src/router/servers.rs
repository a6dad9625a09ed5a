//! Messages about definitions and the servers' lives.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{
    AddServer, AddServerResult, ConnectServer, ConnectServerResult, ConnectionInfo, DisconnectServerResult,
    ListServersResult, Progress, RemoveServer, RemoveServerResult, SandboxSettings, Supervision,
};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::JsonObject;
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::environment;
use harbor_policy::settings::Settings;

use super::client::Client;
use super::sandbox;
use super::views::{connection_info, view, views};
use super::{Handled, Router, invalid, reply, to_the_end};
use crate::host::start_failed;
use crate::store::StoreError;
use crate::store::audit::Record;
use crate::store::definitions::{Definition, Stored};
use crate::supervisor::{Note, Server};

pub(super) async fn add(router: &Rc<Router>, client: &Client, message: AddServer) -> Handled {
    let server_id = message.server_id.clone();
    let definition = definition(message)?;
    sandbox::may_be_granted(router, &server_id, &definition).await?;
    let (router, sender) = (router.clone(), client.sender());
    to_the_end(async move {
        router.host.trail.decided("add_server", &sender, about(&server_id), true).await?;
        // Before it can run and write there itself.
        let left = router.supervisor.data_left(&server_id).await;
        router.definitions.put(&server_id, &definition).await.map_err(|error| stored(&error))?;
        let says = definition.sandbox.clone();
        let (server, before) = router.supervisor.put(Stored { server_id, definition, era: None });
        if let Some(before) = &before {
            before.down().await;
        }
        let old_data = left.filter(|_| before.is_none()).map(text);
        let old_sandbox = before.as_ref().map(|before| before.definition().sandbox.clone());
        let old_sandbox = old_sandbox.filter(|old| *old != says && *old != SandboxSettings::default());
        let (server, replaced) = (view(&router, &server), before.is_some());
        reply(AddServerResult { server, replaced, old_data, old_sandbox })
    })
    .await
}

/// Checks what its types do not: lengths, absolute paths, names of variables.
fn definition(message: AddServer) -> Result<Definition, ErrorBody> {
    let env: BTreeMap<_, _> = message.env.unwrap_or_default();
    let args = message.args.unwrap_or_default();
    let no_nul = |text: &String| !text.contains('\0');
    if message.command.is_empty() || !no_nul(&message.command) {
        return Err(invalid("command", "a program: an absolute path, or a name to look up in PATH"));
    }
    if message.command.contains('/') && !Path::new(&message.command).is_absolute() {
        return Err(invalid("command", "an absolute path, or a name without '/'"));
    }
    if !args.iter().all(no_nul) {
        return Err(invalid("args", "texts without NUL characters"));
    }
    if let Some(why) = env.iter().find_map(|(name, value)| environment::wrong_variable(name, value)) {
        return Err(invalid("env", why));
    }
    if message.cwd.as_ref().is_some_and(|cwd| !Path::new(cwd).is_absolute() || !no_nul(cwd)) {
        return Err(invalid("cwd", "an absolute path"));
    }
    let roots = message.roots.unwrap_or_default();
    if !roots.iter().all(|uri| uri.starts_with("file://")) {
        return Err(invalid("roots", "file:// URIs"));
    }
    let definition = Definition {
        command: message.command,
        args,
        env,
        cwd: message.cwd,
        label: message.label,
        roots,
        supervision: supervision(message.supervision)?,
        as_is: message.as_is == Some(true),
        sandbox: sandbox::checked(sandbox_settings(message.sandbox)?)?,
    };
    let ranges = Settings::new(&definition.supervision, false);
    ranges.map_err(|wrong| invalid(wrong.field, wrong.expected))?;
    Ok(definition)
}

fn supervision(given: Option<JsonObject>) -> Result<Supervision, ErrorBody> {
    given.map_or_else(|| Ok(Supervision::default()), |given| Ok(Supervision::parse(given.0.as_str())?))
}

fn sandbox_settings(given: Option<JsonObject>) -> Result<SandboxSettings, ErrorBody> {
    given
        .map_or_else(|| Ok(SandboxSettings::default()), |given| Ok(SandboxSettings::parse(given.0.as_str())?))
}

pub(super) async fn remove(router: &Rc<Router>, client: &Client, message: RemoveServer) -> Handled {
    let (router, sender) = (router.clone(), client.sender());
    to_the_end(async move {
        router.host.trail.decided("remove_server", &sender, about(&message.server_id), false).await?;
        router.definitions.remove(&message.server_id).await.map_err(|error| stored(&error))?;
        let (id, with_data) = (&message.server_id, message.data == Some(true));
        let server = router.supervisor.remove(id);
        // Without a server, what an earlier one of that name has left may still be meant.
        let removed = server.is_some() || (with_data && router.supervisor.has_data_directory(id).await);
        if !removed {
            return reply(RemoveServerResult { removed, data: None });
        }
        if let Some(server) = server {
            server.down().await;
            router.host.registry.forget(id).await;
        }
        let data = router.supervisor.forget(id, with_data).await.map(text);
        reply(RemoveServerResult { removed, data })
    })
    .await
}

fn text(path: PathBuf) -> String {
    path.to_string_lossy().into_owned()
}

pub(super) fn about(server: &ServerId) -> Record {
    Record { server: Some(server.shared()), decision: "allowed", ..Record::default() }
}

pub(super) fn list(router: &Router) -> Handled {
    reply(ListServersResult { servers: views(router) })
}

/// Pushes what happens until a server runs as progress of the request, where that is wanted.
pub(super) fn note(client: &Rc<Client>, request_id: &str, wanted: Option<bool>) -> Option<Note> {
    let (client, request_id, steps) = (Rc::downgrade(client), request_id.to_owned(), Cell::new(0u64));
    let note: Note = Rc::new(move |text: &str| {
        let Some(client) = client.upgrade() else { return };
        steps.set(steps.get() + 1);
        let progress = Json::from_valid(steps.get().to_string());
        let message = Some(text.to_owned());
        client.send_push(
            "progress",
            &Progress { request_id: request_id.clone(), progress, total: None, message },
        );
    });
    (wanted == Some(true)).then_some(note)
}

pub(super) async fn connect(router: &Router, message: &ConnectServer, note: Option<Note>) -> Handled {
    let id = &message.server_id;
    if message.restart == Some(true) {
        router.host.server(id)?.stop();
    }
    let (server, info) = start(router, id, note).await?;
    reply(ConnectServerResult { server: view(router, &server), connection_info: info })
}

/// Starts a server; gives what it said about itself.
pub(super) async fn start(
    router: &Router,
    id: &ServerId,
    note: Option<Note>,
) -> Result<(Rc<Server>, ConnectionInfo), ErrorBody> {
    let server = router.host.server(id)?;
    server.start(note).await.map_err(|error| start_failed(id, &error))?;
    let info = connection_info(&server.status());
    Ok((server, info))
}

pub(super) async fn disconnect(router: &Router, id: &ServerId) -> Handled {
    let server = router.host.server(id)?;
    server.stop();
    server.down().await;
    reply(DisconnectServerResult { server: view(router, &server) })
}

pub(super) fn stored(error: &StoreError) -> ErrorBody {
    tracing::error!(%error, "a definition could not be stored");
    ErrorBody::new(Code::Internal, format!("{error}; nothing was changed"))
}
