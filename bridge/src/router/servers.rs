//! Messages about definitions and the servers' lives.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{
    AddServer, AddServerResult, ConnectServer, ConnectServerResult, ConnectionInfo, CredentialType,
    DisconnectServerResult, Instance, ListServersResult, Progress, RemoveServer, RemoveServerResult,
    SandboxSettings, ServerChange, Supervision,
};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::{JsonObject, Message as _};
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::container::{Engine, reference, variables};
use harbor_policy::credentials::{MAX_KEYS, wrong_key};
use harbor_policy::environment;
use harbor_policy::package::source;
use harbor_policy::settings::Settings;
use tokio::sync::MutexGuard;

use super::client::Client;
use super::views::{connection_info, image_view, view, views};
use super::{
    Handled, Router, credentials, definitions, installs, invalid, read_only, reply, sandbox, to_the_end,
};
use crate::host::start_failed;
use crate::store::StoreError;
use crate::store::audit::AuditRecord;
use crate::store::definitions::{Definition, Image, Stored};
use crate::supervisor::{Server, StartError, StartListener};

pub(super) async fn add(router: &Rc<Router>, client: &Client, mut message: AddServer) -> Handled {
    definitions::keep(router, &message.server_id, message.keep_env.take(), "keep_env", &mut message.env)?;
    let (server_id, keep_data) = (message.server_id.clone(), message.keep_data == Some(true));
    let definition = of_installation(router, &server_id, definition(message)?);
    installs::may_be_named(&server_id)?;
    installs::not_claimed(router, &server_id).await?;
    sandbox::may_be_granted(router, &server_id, &definition).await?;
    let (router, sender) = (router.clone(), client.sender());
    to_the_end(async move {
        router.host.trail.decided(AddServer::TAG, &sender, about(&server_id), true).await?;
        let turn = router.changing.lock().await;
        router.definitions.put(&server_id, &definition).await.map_err(|error| stored(&error))?;
        let says = definition.sandbox.clone();
        // Before the server can run and write there itself.
        let old_data = old_data(&router, &server_id, &definition, keep_data).await?;
        let looked = router.supervisor.look(Stored { server_id, definition, era: None }).await;
        let (server, before) = router.supervisor.put(looked);
        let program_change = settled(&router, &server).await?;
        drop(turn);
        if let Some(before) = &before {
            before.down().await;
        }
        let old_sandbox = before.as_ref().map(|before| before.definition().sandbox.clone());
        let old_sandbox = old_sandbox.filter(|old| *old != says && *old != SandboxSettings::default());
        let (server, replaced) = (view(&router, &server), before.is_some());
        reply(AddServerResult { server, replaced, old_data, old_sandbox, program_change })
    })
    .await
}

/// The definition with the settings of its package's installation, if the package is the same: they need not be given
/// anew.
fn of_installation(router: &Router, id: &ServerId, definition: Definition) -> Definition {
    let before = router.supervisor.get(id).map(|before| before.definition());
    match before.filter(|before| before.program() == definition.program()) {
        Some(before) => {
            Definition { install_env: before.install_env.clone(), with: before.with.clone(), ..definition }
        }
        None => definition,
    }
}

/// The files that another program of this name has left: kept as the home of the next one if that is wanted, else set
/// aside. Gives their place.
pub(super) async fn old_data(
    router: &Router,
    id: &ServerId,
    definition: &Definition,
    keep: bool,
) -> Result<Option<String>, ErrorBody> {
    let before = router.supervisor.get(id);
    if before.is_some_and(|before| before.definition().program() == definition.program()) {
        return Ok(None);
    }
    if keep {
        return Ok(router.supervisor.data_left(id).await.map(text));
    }
    let aside = router.supervisor.set_data_aside(id).await;
    aside.map(|aside| aside.map(text)).map_err(|error| stored(&error))
}

/// The change that is to be accepted, for a server that has just replaced one that was given something.
pub(super) async fn settled(router: &Router, server: &Server) -> Result<Option<ServerChange>, ErrorBody> {
    if router.host.server_change(server.id()).is_some() {
        let has_secrets = credentials::has_any(router, server.id()).await;
        router.host.settle_if_nothing_was_given(server.id(), has_secrets).await?;
    }
    Ok(router.host.server_change(server.id()))
}

/// Replaces a definition by one that is stored. A server that was up, or about to be, is stopped, and starts anew with
/// it. Gives the server, and true if it starts. The turn to change definitions ends before the stop, which may take long.
pub(super) async fn replace(
    router: &Router,
    turn: MutexGuard<'_, ()>,
    server_id: ServerId,
    definition: Definition,
) -> (Rc<Server>, bool) {
    let looked = router.supervisor.look(Stored { server_id: server_id.clone(), definition, era: None }).await;
    let before = router.supervisor.get(&server_id);
    let starts = before.is_some_and(|before| before.is_up() || before.is_expected());
    let (server, before) = router.supervisor.put(looked);
    if starts {
        server.expect_start();
    }
    drop(turn);
    if let Some(before) = before {
        before.down().await;
    }
    if starts {
        let server = server.clone();
        // Whoever wants to know how that goes watches the server: its state says it. If the
        // server was replaced meanwhile, its successor starts instead.
        tokio::task::spawn_local(async move { server.start_in_turn().await });
    }
    (server, starts)
}

/// Checks what the message's types do not: lengths, absolute paths, names of variables.
pub(super) fn definition(message: AddServer) -> Result<Definition, ErrorBody> {
    let image = image(&message)?;
    let env: BTreeMap<_, _> = message.env.unwrap_or_default();
    let args = message.args.unwrap_or_default();
    let no_nul = |text: &String| !text.contains('\0');
    let command = message.command.unwrap_or_default();
    if image.is_none() && (command.is_empty() || !no_nul(&command)) {
        return Err(invalid("command", "a program: an absolute path, or a name to look up in PATH"));
    }
    let is_source = image.is_none() && source::is_source(&command);
    if is_source {
        source::read(&command, &args).map_err(|why| installs::wrong_source("command", why))?;
    }
    if !is_source && command.contains('/') && !Path::new(&command).is_absolute() {
        return Err(invalid("command", "an absolute path, or a name without '/'"));
    }
    if !args.iter().all(no_nul) {
        return Err(invalid("args", "texts without NUL characters"));
    }
    if let Some(why) = env.iter().find_map(|(name, value)| environment::wrong_variable(name, value)) {
        return Err(invalid("env", why));
    }
    if let Some(why) = image.as_ref().and_then(|_| env.keys().find_map(|name| variables::wrong(name))) {
        return Err(ErrorBody::new(Code::InvalidParams, why).with("field", "env"));
    }
    if message.cwd.as_ref().is_some_and(|cwd| !Path::new(cwd).is_absolute() || !no_nul(cwd)) {
        return Err(invalid("cwd", "an absolute path"));
    }
    let roots = message.roots.unwrap_or_default();
    if !roots.iter().all(|uri| uri.starts_with("file://")) {
        return Err(invalid("roots", "file:// URIs"));
    }
    let definition = Definition {
        command,
        image,
        args,
        env,
        cwd: message.cwd,
        label: message.label,
        roots,
        supervision: supervision(message.supervision)?,
        as_is: message.as_is == Some(true),
        sandbox: sandbox::checked(sandbox_settings(message.sandbox)?)?,
        secrets: secret_names(message.secrets)?,
        remote: None,
        install_env: BTreeMap::new(),
        with: Vec::new(),
    };
    supervised(&definition)?;
    Ok(definition)
}

/// Checks that a server can be supervised with these settings.
///
/// # Errors
/// Which setting is wrong.
pub(super) fn supervised(definition: &Definition) -> Result<(), ErrorBody> {
    let ranges = Settings::new(&definition.supervision, false);
    let settings = ranges.map_err(|wrong| invalid(wrong.field, wrong.expected))?;
    match definition.image.is_some() && settings.instance == Instance::PerPrincipal {
        true => Err(invalid("instance", "shared: a container has one process for all")),
        false => Ok(()),
    }
}

/// The names of secrets, each once, if they are allowed.
pub(super) fn secret_names(given: Option<Vec<String>>) -> Result<Vec<String>, ErrorBody> {
    let mut names = given.unwrap_or_default();
    names.sort();
    names.dedup();
    // Whether it is a header is decided with its value.
    let wrong = names.iter().find_map(|name| wrong_key(CredentialType::Header, name));
    let too_many = (names.len() > MAX_KEYS).then_some("at most 256 names");
    wrong.or(too_many).map_or(Ok(names), |expected| Err(invalid("secrets", expected)))
}

/// The image, if the message names one: then it must have nothing that only a command has.
fn image(message: &AddServer) -> Result<Option<Image>, ErrorBody> {
    let Some(reference) = message.image.clone() else {
        let alone = message.engine.is_none();
        return if alone { Ok(None) } else { Err(invalid("engine", "said with an image only")) };
    };
    if message.command.is_some() {
        return Err(invalid("command", "absent where an image is said"));
    }
    if let Some(why) = reference::wrong(&reference) {
        return Err(invalid("image", why));
    }
    if message.engine.as_deref().is_some_and(|engine| Engine::of(engine).is_none()) {
        return Err(invalid("engine", "podman or docker"));
    }
    if message.cwd.is_some() {
        return Err(invalid("cwd", "absent where an image is said: it has its own"));
    }
    Ok(Some(Image { reference, engine: message.engine.clone() }))
}

pub(super) fn supervision(given: Option<JsonObject>) -> Result<Supervision, ErrorBody> {
    given.map_or_else(|| Ok(Supervision::default()), |given| Ok(Supervision::parse(given.0.as_str())?))
}

fn sandbox_settings(given: Option<JsonObject>) -> Result<SandboxSettings, ErrorBody> {
    given
        .map_or_else(|| Ok(SandboxSettings::default()), |given| Ok(SandboxSettings::parse(given.0.as_str())?))
}

pub(super) async fn remove(router: &Rc<Router>, client: &Client, message: RemoveServer) -> Handled {
    reply(remove_it(router, client, message).await?)
}

/// Removes a server; gives what was removed.
pub(super) async fn remove_it(
    router: &Rc<Router>,
    client: &Client,
    message: RemoveServer,
) -> Result<RemoveServerResult, ErrorBody> {
    router.staged.drop_of(&message.server_id);
    installs::not_claimed(router, &message.server_id).await?;
    let (router, sender) = (router.clone(), client.sender());
    to_the_end(async move {
        let (id, with_data) = (&message.server_id, message.data == Some(true));
        if is_anything_left(&router, id, with_data).await {
            router.host.trail.decided(RemoveServer::TAG, &sender, about(id), false).await?;
        }
        let turn = router.changing.lock().await;
        // First, because nobody could remove a secret without a server.
        let (mut secrets, mut secrets_left) = credentials::forget(&router, id).await?;
        let mut ended = Vec::new();
        if router.supervisor.get(id).is_some() {
            // Before its definition: if the bridge is killed in between, nothing is
            // left for the next server of this name.
            ended = router.host.permissions.forget_source(&sender, &id.into()).await;
        }
        let removed = router.definitions.remove(id).await;
        removed.map_err(|error| not_removed(&error, id, secrets, ended.len()))?;
        let server = router.supervisor.remove(id);
        if server.is_some() {
            router.host.forget_server(id);
            // Secrets that were set in between.
            if let Ok((more, left)) = credentials::forget(&router, id).await {
                (secrets, secrets_left) = (secrets + more, left);
            }
        }
        drop(turn);
        // Without a server, the request may mean what an earlier one of that name has left.
        let removed =
            server.is_some() || secrets > 0 || (with_data && router.supervisor.has_data_directory(id).await);
        if !removed {
            let (image, data, secrets_left) = (None, None, None);
            return Ok(RemoveServerResult {
                removed,
                image,
                data,
                secrets,
                secrets_left,
                pins: 0,
                grants: ended,
            });
        }
        // Before the image's name is forgotten.
        let image = server.as_deref().and_then(image_view).filter(|image| image.id.is_some());
        let mut pins = 0;
        if let Some(server) = server {
            server.down().await;
            pins = router.host.forget(id).await;
        }
        let pins = u32::try_from(pins).unwrap_or(u32::MAX);
        let data = router.supervisor.forget(id, with_data).await.map(text);
        Ok(RemoveServerResult { removed, image, data, secrets, secrets_left, pins, grants: ended })
    })
    .await
}

/// The error for a definition that the disk keeps, after its secrets and grants are gone.
fn not_removed(error: &StoreError, id: &ServerId, secrets: u32, grants: usize) -> ErrorBody {
    if secrets == 0 && grants == 0 {
        return stored(error);
    }
    tracing::error!(%error, "a definition could not be removed");
    let message = format!(
        "{error}; {id} is still defined, but what it was given is gone (secrets: {secrets}, grants of its tools: {grants}); \
         `harbor remove {id}` removes it once there is room"
    );
    ErrorBody::new(Code::Internal, message).with("server_id", id.as_str())
}

/// True if something of a server is there to remove: the server itself, or what an earlier one of that name has left.
async fn is_anything_left(router: &Router, id: &ServerId, with_data: bool) -> bool {
    router.supervisor.get(id).is_some()
        || credentials::has_any(router, id).await
        || (with_data && router.supervisor.has_data_directory(id).await)
}

fn text(path: PathBuf) -> String {
    path.to_string_lossy().into_owned()
}

pub(super) fn about(server: &ServerId) -> AuditRecord {
    AuditRecord { server: Some(server.shared()), decision: "allowed", ..AuditRecord::default() }
}

pub(super) fn list(router: &Router) -> Handled {
    reply(ListServersResult { servers: views(router) })
}

/// Pushes the steps of a start as progress of the request, if its client wants it.
pub(super) fn note(client: &Rc<Client>, request_id: &str, wanted: Option<bool>) -> Option<StartListener> {
    let (client, request_id, steps) = (Rc::downgrade(client), request_id.to_owned(), Cell::new(0u64));
    let note: StartListener = Rc::new(move |text: &str| {
        let Some(client) = client.upgrade() else { return };
        steps.set(steps.get() + 1);
        let progress = Json::from_valid(steps.get().to_string());
        let message = Some(text.to_owned());
        client.send_push(&Progress { request_id: request_id.clone(), progress, total: None, message });
    });
    (wanted == Some(true)).then_some(note)
}

pub(super) async fn connect(
    router: &Router,
    client: &Rc<Client>,
    request_id: &str,
    message: &ConnectServer,
) -> Handled {
    let note = note(client, request_id, message.progress);
    let id = &message.server_id;
    let (server, info) = match message.restart == Some(true) {
        // Calls wait meanwhile, so it starts at once.
        true => {
            let server = router.host.server(id)?;
            read_only::may_stop(router.supervisor.home(), id)?;
            server.stop();
            let started = server.start(note).await;
            ran(&server, started)?
        }
        false => start(router, id, note).await?,
    };
    reply(ConnectServerResult { server: view(router, &server), connection_info: info })
}

/// Starts a server; gives what the server said about itself.
pub(super) async fn start(
    router: &Router,
    id: &ServerId,
    note: Option<StartListener>,
) -> Result<(Rc<Server>, ConnectionInfo), ErrorBody> {
    let server = router.host.server(id)?;
    let started = router.supervisor.start_paced(&server, note).await;
    ran(&server, started)
}

fn ran(
    server: &Rc<Server>,
    started: Result<(), StartError>,
) -> Result<(Rc<Server>, ConnectionInfo), ErrorBody> {
    started.map_err(|error| start_failed(server.id(), &error))?;
    Ok((server.clone(), connection_info(&server.status())))
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
