//! The package that a message asks for, and the definition of its server.
//!
//! Owns that the definition admits later versions, while the package is the wanted one. Must never look at the disk.

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{AddServer, InstallServer};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::credentials::Credential;
use harbor_policy::environment;
use harbor_policy::package::{Ecosystem, Package, source};

use super::definition::{definition, wrong_source};
use super::failures::names_given;
use super::secrets;
use crate::host::invalid;
use crate::store::definitions::Definition;

/// A wanted installation.
pub(super) struct RequestedInstall {
    pub id: ServerId,
    /// The package, in the wanted version.
    pub package: Package,
    /// The definition, which admits later versions.
    pub definition: Definition,
    /// Secrets that are not stored yet.
    pub given: Vec<(String, Credential)>,
    /// True if it gets the files that an earlier server of this name has left.
    pub keep_data: bool,
}

impl RequestedInstall {
    /// The names of its variables and secrets.
    pub(super) fn names(&self) -> Vec<String> {
        names_given(&self.definition, &self.given)
    }
}

/// Reads the name, the package in the wanted version, and the definition, which admits later versions.
pub(super) fn wanted(message: InstallServer) -> Result<RequestedInstall, ErrorBody> {
    let args = message.args.unwrap_or_default();
    let package = source::read(&message.source, &args).map_err(|why| wrong_source("source", why))?;
    let with = beside(&package, message.with)?;
    let package = Package { with: with.clone(), ..package };
    let install_env = message.install_env.unwrap_or_default();
    if let Some(why) = install_env.iter().find_map(|(name, value)| environment::wrong_variable(name, value)) {
        return Err(invalid("install_env", why));
    }
    let id = message.server_id.or_else(|| source::default_name(&package)).ok_or_else(|| {
        let message = format!("no name can be made from {}; pass --name", package.name);
        ErrorBody::new(Code::InvalidParams, message).with("field", "server_id")
    })?;
    let admitted = if package.is_exact() { package.newest() } else { package.clone() };
    let (given, keep_data) = (secrets::given(message.secret_values)?, message.keep_data == Some(true));
    let definition = definition(AddServer {
        server_id: id.clone(),
        command: Some(admitted.source()),
        image: None,
        engine: None,
        args: Some(args),
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
    let definition = Definition { install_env, with, ..definition };
    Ok(RequestedInstall { id, package, definition, given, keep_data })
}

/// The packages to install beside a package, each in the form that an installer takes.
fn beside(package: &Package, with: Option<Vec<String>>) -> Result<Vec<String>, ErrorBody> {
    let with = with.unwrap_or_default();
    if !with.is_empty() && !matches!(package.ecosystem, Ecosystem::Pypi | Ecosystem::Git) {
        return Err(invalid("with", "said of a package of Python only (pypi:…, git:…)"));
    }
    let read = |text: &String| {
        source::beside(text).map_err(|why| ErrorBody::new(Code::InvalidParams, why).with("field", "with"))
    };
    with.iter().map(read).collect()
}
