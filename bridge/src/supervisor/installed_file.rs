//! `installed_servers.json`: what is installed, for other programs to read.
//!
//! Owns that file: it is replaced whole at each change, and never read. Must never hold a value of an environment variable, nor a
//! password or key that stands among arguments or in an address.

use std::path::Path;
use std::rc::Rc;

use harbor_home::date::rfc3339;
use harbor_home::files::write_atomically;
use harbor_ipc_proto::download::Unpacked;
use harbor_policy::package::binary::FILES;
use harbor_policy::package::{Ecosystem, Package};
use harbor_policy::telltale::{masked, without_secrets};
use serde_json::{Value, json};

use super::{Server, Supervisor};

impl Supervisor {
    /// Notes that something of it has changed. Changes that come while it is written are written next, together.
    pub fn note_installed(self: &Rc<Self>) {
        if !self.writing.begin() {
            return;
        }
        let supervisor = self.clone();
        tokio::task::spawn_local(async move {
            while supervisor.writing.goes_on() {
                let (text, path) =
                    (supervisor.installed(), supervisor.runners.shared.paths.installed_servers());
                let _ = tokio::task::spawn_blocking(move || write(&path, &text)).await;
            }
        });
    }

    fn installed(&self) -> String {
        let servers: Vec<_> = self.all().iter().filter_map(entry).collect();
        let text = serde_json::to_string_pretty(&json!({"version": 1, "servers": servers}));
        text.unwrap_or_default()
    }
}

fn write(path: &Path, text: &str) {
    if let Err(error) = write_atomically(path, text.as_bytes()) {
        tracing::warn!(%error, "installed_servers.json is out of date");
    }
}

/// The path of the program of a downloaded package.
fn program(server: &Server, package: &Package) -> Option<String> {
    let unpacked =
        Unpacked::of_tree(&server.lock()?.tree).filter(|_| package.ecosystem == Ecosystem::Binary)?;
    Some(server.package_dir().join(FILES).join(unpacked.program).to_string_lossy().into_owned())
}

fn entry(server: &Rc<Server>) -> Option<Value> {
    let (definition, lock) = (server.definition(), server.lock()?);
    let (package, installed_at) = (definition.package()?, lock.installed_at?);
    let names: Vec<_> = definition.env.keys().map(|name| json!({"name": name})).collect();
    Some(without_passwords(json!({
        "id": server.id().as_str(),
        "name": server.label(),
        "packageType": package.ecosystem.as_str(),
        "packageId": package.name,
        "autoStart": server.settings().auto_start,
        "args": without_secrets(&package.args),
        "requiredEnvVars": names,
        "installedAt": rfc3339(installed_at),
        "version": lock.version,
        "integrity": lock.integrity,
        "packages": lock.packages,
        "binaryUrl": package.binary().map(|binary| binary.address()),
        "binaryPath": program(server, &package),
    })))
}

/// Masks passwords in all texts. Addresses stand in several members, and a later member is masked without further work.
fn without_passwords(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(masked(&text).unwrap_or(text)),
        Value::Array(items) => items.into_iter().map(without_passwords).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(name, value)| (name, without_passwords(value))).collect()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_no_password_wherever_it_stands() {
        let with = |password: &str| {
            let url = format!("https://me:{password}@host/a");
            json!({"packageId": url, "args": ["--url", url], "version": null, "packages": 3,
                "requiredEnvVars": [{"name": "KEY"}], "nested": {"url": url}})
        };
        assert_eq!(without_passwords(with("hunter2")), with("***"));
    }
}
