//! The image, or the remote server, that a message asks for.
//!
//! Owns its definition. Must never look at the disk, nor connect.

use std::collections::BTreeMap;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{AddRemoteServer, AddServer, InstallServer, InstalledView};
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::credentials::Credential;
use harbor_policy::recipe::source::InstallSource;
use harbor_policy::remote;

use super::definition::{definition, secret_names};
use super::source_kinds::{lacking, named, nothing_of_remotes};
use super::{remote_definition, secrets};
use crate::host::invalid;
use crate::store::definitions::Definition;

/// An installation in one step: there is no version to find out.
pub(super) struct DirectInstall {
    pub(super) id: ServerId,
    pub(super) definition: Definition,
    pub(super) given: Vec<(String, Credential)>,
    pub(super) missing: Vec<String>,
    pub(super) kind: &'static str,
    pub(super) name: String,
    pub(super) source: String,
    pub(super) plan: bool,
    pub(super) keep_data: bool,
}

impl DirectInstall {
    /// The server in the form for the person, before it exists.
    pub(super) fn shown(&self) -> InstalledView {
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

/// An image.
pub(super) fn of_image(image: String, message: InstallServer) -> Result<DirectInstall, ErrorBody> {
    let id = named(&message, &InstallSource::Image(image.clone()))?;
    nothing_of_remotes(&message)?;
    let (missing, given) = (lacking(&message), secrets::given(message.secret_values)?);
    let definition = definition(AddServer {
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
        script: None,
        module: None,
        keep_env: None,
    })?;
    let plan = message.plan == Some(true);
    let keep_data = message.keep_data == Some(true);
    let source = format!("oci:{image}");
    Ok(DirectInstall { id, definition, given, missing, kind: "oci", name: image, source, plan, keep_data })
}

/// A remote server.
pub(super) fn of_remote(url: String, mut message: InstallServer) -> Result<DirectInstall, ErrorBody> {
    let id = named(&message, &InstallSource::Remote(url.clone()))?;
    if message.args.as_ref().is_some_and(|args| !args.is_empty()) {
        return Err(invalid("args", "absent for a remote server"));
    }
    // A name in a header must be a secret if it is no variable.
    let is_new = |key: &String| {
        !message.secrets.iter().flatten().any(|known| known == key)
            && !message.env.as_ref().is_some_and(|env| env.contains_key(key))
    };
    let named: Vec<_> =
        remote::keys(message.headers.iter().flat_map(BTreeMap::values)).into_iter().filter(is_new).collect();
    message.secrets.get_or_insert_default().extend(named);
    let (missing, given) = (lacking(&message), secrets::given(message.secret_values)?);
    let secrets = secret_names(message.secrets)?;
    let definition = remote_definition::definition(AddRemoteServer {
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
    let (plan, name) = (message.plan == Some(true), remote::shown(&url));
    let (kind, source, keep_data) = ("remote", name.clone(), message.keep_data == Some(true));
    Ok(DirectInstall { id, definition, given, missing, kind, source, name, plan, keep_data })
}
