//! `install_server` for every source, and the messages before it: `resolve_server`, `get_curated_list`.
//!
//! ```text
//!  source ─► sorted ─┬─ an entry, a repository, a manifest ─► its recipe, filled in ─► one of the others
//!                    ├─ a package ─► installs
//!                    └─ an image, a server elsewhere ─► tried out ─► definition, server      dropped before: nothing is left
//!  a secret is missing, the person is wanted ─► only the definition: it is started once that is set, or they have said yes
//! ```
//!
//! Owns which way a source goes. Must never store a secret of a server that is not kept.

mod declared;
mod entry;
mod looking;

use std::collections::BTreeMap;
use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{
    AddRemoteServer, AddServer, GetCuratedListResult, InstallServer, InstallServerResult, InstalledView,
    ResolveServer, ResolveServerResult,
};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::Message as _;
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::credentials::{Credential, Credentials};
use harbor_policy::curated::CURATED;
use harbor_policy::recipe::source::{self, InstallSource, KINDS};
use harbor_policy::remote;

use super::client::Client;
use super::installs::NOTHING;
use super::servers::{about, note, secret_names, stored};
use super::start_preview::RequestNames;
use super::views::view;
use super::{Handled, Router, credentials, installs, remotes, reply, sandbox, servers, to_the_end};
use crate::host::asker::Sender;
use crate::link::NEEDS_AUTHORIZATION;
use crate::store::definitions::{Definition, Stored};
use crate::supervisor::{Server, StartError, StartListener, TrialOf};

pub(super) use entry::unknown;
pub(super) use looking::ReadSource;

pub(super) async fn install(
    router: &Rc<Router>,
    client: &Rc<Client>,
    request_id: &str,
    message: InstallServer,
) -> Handled {
    let said = RequestNames::of(&message);
    let incomplete = message.incomplete == Some(true);
    if incomplete && message.plan != Some(true) {
        return Err(super::invalid("incomplete", "said with `plan` only"));
    }
    let message = entry::expanded(router, client, request_id, message).await?;
    if let Some(sample) = sample(&message.source).filter(|_| incomplete) {
        let source = message.source.clone();
        let whole = DirectInstall { name: source.clone(), source, ..of_remote(sample, message)? };
        return install_whole(router, client, request_id, whole, &said).await;
    }
    match sorted(&message.source)? {
        InstallSource::Package(source) => {
            let message = InstallServer { source, ..message };
            nothing_of_remotes(&message)?;
            let missing = lacking(&message);
            installs::install(router, client, request_id, message, &said, missing).await
        }
        InstallSource::Image(_) | InstallSource::Remote(_) if is_of_packages(&message) => {
            Err(super::invalid("install_env", "said, as `with`, of a package only"))
        }
        InstallSource::Image(image) => {
            let whole = of_image(image, message)?;
            sandbox::may_be_granted(router, &whole.id, &whole.definition).await?;
            install_whole(router, client, request_id, whole, &said).await
        }
        InstallSource::Remote(url) => {
            install_whole(router, client, request_id, of_remote(url, message)?, &said).await
        }
        InstallSource::Entry(_) => Err(wrong("the entry names no source")),
    }
}

pub(super) async fn resolve(
    router: &Rc<Router>,
    client: &Rc<Client>,
    request_id: &str,
    message: ResolveServer,
) -> Handled {
    let ResolveServer { source, manifest, package, progress } = message;
    let wanted = entry::NamedSource { source: &source, manifest: manifest.as_ref(), planned: None };
    let found = wanted.find(router, client, note(client, request_id, progress)).await?;
    let found = match found {
        Some(found) => found,
        None => entry::FoundEntry::of_person(&source, &sorted(&source)?),
    };
    reply(ResolveServerResult { server: found.view(router, package)? })
}

pub(super) fn curated(router: &Router) -> Handled {
    let servers = CURATED.iter().map(|curated| entry::FoundEntry::of_harbor(curated).view(router, None));
    reply(GetCuratedListResult { servers: servers.collect::<Result<_, _>>()? })
}

fn sorted(source: &str) -> Result<InstallSource, ErrorBody> {
    source::sort(source).map_err(|why| wrong(&why))
}

fn wrong(why: &str) -> ErrorBody {
    ErrorBody::new(Code::InvalidParams, why).with("field", "source").with("expected", KINDS)
}

/// The address of a server with placeholders, with something in their places.
fn sample(source: &str) -> Option<String> {
    let is_unfilled =
        source.contains('{') && ["https://", "http://"].iter().any(|start| source.starts_with(start));
    let sample = source.replace(['{', '}'], "x");
    (is_unfilled && matches!(source::sort(&sample), Ok(InstallSource::Remote(_)))).then_some(sample)
}

/// The secrets that are needed and were not given.
fn lacking(message: &InstallServer) -> Vec<String> {
    let given =
        |name: &String| message.secret_values.as_ref().is_some_and(|given| given.0.contains_key(name));
    message.secrets.iter().flatten().filter(|name| !given(name)).cloned().collect()
}

/// An installation in one step: there is no version to find out.
struct DirectInstall {
    id: ServerId,
    definition: Definition,
    given: Vec<(String, Credential)>,
    missing: Vec<String>,
    kind: &'static str,
    name: String,
    source: String,
    plan: bool,
    keep_data: bool,
    progress: Option<bool>,
}

impl DirectInstall {
    fn shown(&self) -> InstalledView {
        InstalledView {
            server_id: self.id.to_string(),
            kind: self.kind.into(),
            name: self.name.clone(),
            source: self.source.clone(),
            version: None,
            lost: None,
            integrity: None,
            packages: None,
            installed_at: None,
            previous: None,
            tools: None,
            missing: None,
            runs_without_network: None,
            needs_authorization: None,
            old_data: None,
            sandbox: None,
            settings: None,
            runs: None,
            planned: None,
            needs_build: None,
            newest: None,
            python: None,
            registry: None,
            file: None,
            server: None,
        }
    }
}

/// The given name, or one made from the source.
fn named(message: &InstallServer, source: &InstallSource) -> Result<ServerId, ErrorBody> {
    let id = message.server_id.clone().or_else(|| source::default_name(source));
    id.ok_or_else(|| {
        let message = format!("no name can be made from {}; pass --name", message.source);
        ErrorBody::new(Code::InvalidParams, message).with("field", "server_id")
    })
}

fn of_image(image: String, message: InstallServer) -> Result<DirectInstall, ErrorBody> {
    let id = named(&message, &InstallSource::Image(image.clone()))?;
    nothing_of_remotes(&message)?;
    let (missing, given) = (lacking(&message), credentials::given(message.secret_values)?);
    let definition = servers::definition(AddServer {
        server_id: id.clone(),
        command: None,
        image: Some(image.clone()),
        engine: None,
        args: message.args,
        env: message.env,
        cwd: None,
        label: message.label,
        roots: None,
        supervision: message.supervision,
        as_is: None,
        sandbox: message.sandbox,
        secrets: message.secrets,
        keep_data: None,
        keep_env: None,
    })?;
    let (plan, progress) = (message.plan == Some(true), message.progress);
    let keep_data = message.keep_data == Some(true);
    let source = format!("oci:{image}");
    Ok(DirectInstall {
        id,
        definition,
        given,
        missing,
        kind: "oci",
        name: image,
        source,
        plan,
        keep_data,
        progress,
    })
}

fn of_remote(url: String, mut message: InstallServer) -> Result<DirectInstall, ErrorBody> {
    let id = named(&message, &InstallSource::Remote(url.clone()))?;
    if message.args.as_ref().is_some_and(|args| !args.is_empty()) {
        return Err(super::invalid("args", "absent: a server elsewhere has none"));
    }
    // A name in a header must be a secret if it is no variable.
    let is_new = |key: &String| {
        !message.secrets.iter().flatten().any(|known| known == key)
            && !message.env.as_ref().is_some_and(|env| env.contains_key(key))
    };
    let named: Vec<_> =
        remote::keys(message.headers.iter().flat_map(BTreeMap::values)).into_iter().filter(is_new).collect();
    message.secrets.get_or_insert_default().extend(named);
    let (missing, given) = (lacking(&message), credentials::given(message.secret_values)?);
    let secrets = secret_names(message.secrets)?;
    let definition = remotes::definition(AddRemoteServer {
        server_id: id.clone(),
        url: url.clone(),
        transport_type: message.transport_type,
        headers: message.headers,
        env: message.env,
        label: message.label,
        roots: None,
        supervision: message.supervision,
        allow_private: message.allow_private,
        allow_http: message.allow_http,
        keep_env: None,
        keep_headers: None,
        keep_url: None,
    })?;
    let definition = Definition { secrets, ..definition };
    let (plan, progress, name) = (message.plan == Some(true), message.progress, remote::shown(&url));
    let (kind, source, keep_data) = ("remote", name.clone(), message.keep_data == Some(true));
    Ok(DirectInstall { id, definition, given, missing, kind, source, name, plan, keep_data, progress })
}

fn nothing_of_remotes(message: &InstallServer) -> Result<(), ErrorBody> {
    let said = message.headers.as_ref().is_some_and(|headers| !headers.is_empty());
    match said || message.transport_type.is_some() {
        true => Err(super::invalid("headers", "said of a server elsewhere only")),
        false => Ok(()),
    }
}

/// True if the message has a field that only an installer of packages knows.
fn is_of_packages(message: &InstallServer) -> bool {
    let is_said = |with: &Vec<String>| !with.is_empty();
    message.install_env.as_ref().is_some_and(|env| !env.is_empty())
        || message.with.as_ref().is_some_and(is_said)
}

async fn install_whole(
    router: &Rc<Router>,
    client: &Rc<Client>,
    request_id: &str,
    mut whole: DirectInstall,
    said: &RequestNames,
) -> Handled {
    installs::not_there(router, &whole.id)?;
    if whole.plan {
        let held = match whole.definition.remote {
            Some(_) => None,
            None => {
                let held = router.supervisor.would_be_confined(&whole.id, &whole.definition).await;
                Some(held.map_err(|why| ErrorBody::new(Code::InvalidParams, why).with("field", "sandbox"))?)
            }
        };
        let old_data = installs::old_data(router, &whole.id).await;
        let settings = held.is_some().then(|| whole.definition.sandbox.clone());
        let sandbox = held.map(|held| sandbox::summary(&held.profile));
        let runs = Some(said.runs(&whole.definition, None));
        return reply(InstallServerResult {
            installed: InstalledView { sandbox, settings, runs, old_data, ..whole.shown() },
        });
    }
    if !whole.missing.is_empty() {
        let missing = std::mem::take(&mut whole.missing);
        let note = note(client, request_id, whole.progress);
        return put_off(router, client, whole, missing, note).await;
    }
    let note = note(client, request_id, whole.progress);
    let claim = installs::claim_new(router, &whole.id).await?;
    let of = TrialOf { secrets: Credentials(whole.given.iter().cloned().collect()), ..TrialOf::default() };
    let trial = router.supervisor.try_out(claim, whole.definition.clone(), of);
    let tools = match trial.run_once(note).await {
        Ok(tools) => tools.unwrap_or_default(),
        Err(error) if wants_person(&error) => {
            drop(trial);
            return keep_unauthorized(router, client, whole).await;
        }
        Err(error) => {
            let given = installs::names_given(&whole.definition, &whole.given);
            return Err(installs::failed(&whole.id, &error, NOTHING, &given));
        }
    };
    let (router, sender, shown) = (router.clone(), client.sender(), whole.shown());
    to_the_end(async move {
        let id = whole.id.clone();
        let (server, old_data) = keep(&router, &sender, whole).await?;
        drop(trial);
        router.supervisor.tell_tools(&id, &tools);
        if server.settings().auto_start {
            let server = server.clone();
            tokio::task::spawn_local(async move { server.start(None).await });
        }
        installs::settled(&router, &id).await;
        let tools = Some(tools.iter().map(|tool| tool.name.to_string()).collect());
        let server = Some(view(&router, &server));
        reply(InstallServerResult { installed: InstalledView { tools, server, old_data, ..shown } })
    })
    .await
}

/// True if the server answers, but wants a sign-in first: nothing is wrong with it.
fn wants_person(error: &StartError) -> bool {
    matches!(error, StartError::Failed(report) if report.cause == NEEDS_AUTHORIZATION)
}

/// Defines a server that wants a sign-in first, and has its state say so.
async fn keep_unauthorized(router: &Rc<Router>, client: &Client, whole: DirectInstall) -> Handled {
    installs::not_claimed(router, &whole.id).await?;
    installs::not_there(router, &whole.id)?;
    let (router, sender, shown) = (router.clone(), client.sender(), whole.shown());
    to_the_end(async move {
        let (server, old_data) = keep(&router, &sender, whole).await?;
        let started = server.start(None).await;
        let needs_authorization = started.is_err_and(|error| wants_person(&error)).then_some(true);
        let server = Some(view(&router, &server));
        reply(InstallServerResult {
            installed: InstalledView { needs_authorization, server, old_data, ..shown },
        })
    })
    .await
}

/// Defines a server that lacks a secret, and does not start it: it would fail, and look as if something were wrong with
/// it. An image is pinned all the same: its name may mean another one later.
async fn put_off(
    router: &Rc<Router>,
    client: &Client,
    whole: DirectInstall,
    missing: Vec<String>,
    note: Option<StartListener>,
) -> Handled {
    let claim = installs::claim_new(router, &whole.id).await?;
    let of = TrialOf { plan_only: true, ..TrialOf::default() };
    let trial = router.supervisor.try_out(claim, whole.definition.clone(), of);
    if whole.definition.image.is_some() {
        trial.pin(note).await.map_err(|error| installs::failed(&whole.id, &error, NOTHING, &[]))?;
    }
    let (router, sender, shown) = (router.clone(), client.sender(), whole.shown());
    to_the_end(async move {
        let (server, old_data) = keep(&router, &sender, whole).await?;
        drop(trial);
        installs::settled(&router, server.id()).await;
        let server = Some(view(&router, &server));
        reply(InstallServerResult {
            installed: InstalledView { missing: Some(missing), server, old_data, ..shown },
        })
    })
    .await
}

/// Stores a server whose name is free. Gives it, and the place of an earlier server's files.
async fn keep(
    router: &Rc<Router>,
    sender: &Sender,
    whole: DirectInstall,
) -> Result<(Rc<Server>, Option<String>), ErrorBody> {
    let DirectInstall { id, definition, given, keep_data, .. } = whole;
    let turn = router.changing.lock().await;
    installs::not_there(router, &id)?;
    router.host.trail.decided(InstallServer::TAG, sender, about(&id), true).await?;
    credentials::keep(router, sender, &id, given).await?;
    router.definitions.put(&id, &definition).await.map_err(|error| stored(&error))?;
    let old_data = servers::old_data(router, &id, &definition, keep_data).await?;
    let looked = router.supervisor.look(Stored { server_id: id, definition, era: None }).await;
    let (server, _) = router.supervisor.put(looked);
    // Its secrets came with it.
    router.host.settle_if_nothing_was_given(server.id(), false).await?;
    drop(turn);
    Ok((server, old_data))
}
