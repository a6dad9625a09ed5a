//! Questions at an installation that save later ones: does a server need the whole network?
//!
//! Owns two questions: before the server is tried out, the hosts that its keys are for; after it has run
//! without the network, whether it stays so. Must never narrow anything without a person at the terminal, nor
//! where the person has chosen a network.

use harbor_client::errors::Failure;
use harbor_client::id::server_id;
use harbor_client::terminal::remark;
use harbor_ipc_proto::client::{InstalledView, NetworkKind, SandboxSettings, SetSandbox};
use harbor_ipc_proto::field::JsonObject;
use harbor_policy::apis::hosts_of;
use harbor_policy::recipe::source::{InstallSource, sort};

use super::declared_secret::DeclaredSecret;
use super::entry::{About, Complete};
use crate::args::Package;
use crate::client::{Client, QUICK};
use crate::consent;
use crate::screen::Screen;

/// True if the person can be asked about the network, and has not chosen one.
fn is_open(package: &Package, screen: &Screen) -> bool {
    let sandbox = &package.definition.sandbox;
    let is_said = sandbox.network.is_some() || sandbox.level.is_some() || sandbox.listen.is_some();
    !package.yes && !screen.json && !is_said && consent::is_possible("install").is_ok()
}

/// True if a package is installed, and no entry of Harbor's own: those say what network they need.
fn is_package(Complete { package, about, .. }: &Complete) -> bool {
    let source = match about {
        None => &package.source,
        Some(About { entry, .. }) if entry.from == "curated" => return false,
        Some(About { entry, .. }) => {
            let way = entry.way.and_then(|way| entry.ways.get(usize::try_from(way).ok()?));
            let Some(way) = way else { return false };
            &way.source
        }
    };
    matches!(sort(source), Ok(InstallSource::Package(_)))
}

/// True if the server is also tried without the network. A server with keys is not: it has a host to show
/// them to.
pub fn is_tried_without(complete: &Complete, screen: &Screen) -> bool {
    is_open(&complete.package, screen) && complete.secrets.is_empty()
}

/// Has a server with keys whose hosts are known held to these, where the person wants that.
pub fn propose_hosts(complete: &mut Complete, screen: &Screen) -> Result<(), Failure> {
    let keys: Vec<_> = complete.secrets.iter().map(|DeclaredSecret { name, .. }| name.clone()).collect();
    let hosts = hosts_of(&keys);
    // One that it can do without may be for something beside its work.
    let are_needed = complete.secrets.iter().all(|secret| secret.required);
    if hosts.is_empty() || !are_needed || !is_package(complete) || !is_open(&complete.package, screen) {
        return Ok(());
    }
    let (keys, named) = (keys.join(" and "), hosts.join(", "));
    let question = format!(
        "{keys} is for {named}. Allow it to reach only that? Harbor asks you less, and what it reads goes nowhere else."
    );
    if consent::ask_usual(&question)? {
        let sandbox = &mut complete.package.definition.sandbox;
        sandbox.network = Some(NetworkKind::Hosts);
        sandbox.hosts = Some(hosts.into_iter().map(str::to_owned).collect());
    }
    Ok(())
}

/// Keeps a server without the network, if it has run without it and the person wants that.
pub fn leave_without(client: &mut Client, installed: &InstalledView) -> Result<(), Failure> {
    if installed.runs_without_network != Some(true) {
        return Ok(());
    }
    let name = &installed.server_id;
    let question = "It started without the network. Keep it without? It can tell nobody what it reads, and Harbor asks \
                    you less.";
    if !consent::ask_usual(question)? {
        return Ok(());
    }
    let settings = SandboxSettings { network: Some(NetworkKind::None), ..SandboxSettings::default() };
    let sandbox = JsonObject::written(&settings);
    client.ask(&SetSandbox { server_id: server_id(name)?, sandbox, reset: None }, QUICK)?;
    remark(&format!("{name} has no network; if it needs one: `harbor sandbox {name} --network all`"));
    Ok(())
}
