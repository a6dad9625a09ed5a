//! The sandbox's settings in a definition: which are allowed, and the one form that they have.
//!
//! Owns the check of what the messages' types do not say. Must never grant a path by itself: the supervisor looks at the disk.

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{SandboxSettings, SetSandbox};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::JsonObject;
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::sandbox::paths::clean;
use harbor_policy::sandbox::settings;

use crate::host::invalid;
use crate::store::definitions::Definition;
use crate::supervisor::Supervisor;

/// Checks that the sandbox's settings can be granted, even those that the levels `off` and `basic` ignore. A later level
/// would use them, and would refuse them.
pub(super) async fn may_be_granted(
    supervisor: &Supervisor,
    id: &ServerId,
    definition: &Definition,
) -> Result<(), ErrorBody> {
    supervisor.may_be_granted(id, definition).await.map_err(refused)
}

/// The error for settings that would keep the server from its next start.
pub(super) fn refused(why: String) -> ErrorBody {
    ErrorBody::new(Code::InvalidParams, why).with("field", "sandbox")
}

/// The definition with the changed sandbox.
pub(super) fn changed(definition: &Definition, message: &SetSandbox) -> Result<Definition, ErrorBody> {
    let mut sandbox = definition.sandbox.clone();
    for name in message.reset.iter().flatten() {
        if !sandbox.reset(name) {
            return Err(invalid(
                "reset",
                "level, required, read, write, sockets, network, hosts, listen, memory_mb, processes, open_files, file_size_mb, disk_mb or nice",
            ));
        }
    }
    let sandbox = sandbox.with(SandboxSettings::parse(message.sandbox.0.as_str())?);
    Ok(Definition { sandbox: checked(sandbox)?, ..definition.clone() })
}

/// Checks what the message's types do not check, and returns the settings in their one form.
pub(super) fn checked(sandbox: SandboxSettings) -> Result<SandboxSettings, ErrorBody> {
    settings::checked(&sandbox).map_err(|wrong| {
        let body = ErrorBody::new(Code::InvalidParams, wrong.to_string());
        body.with("field", wrong.field).with("expected", &wrong.expected)
    })?;
    Ok(in_one_form(sandbox))
}

/// The settings of a message, as they are said.
pub(super) fn said(given: Option<JsonObject>) -> Result<SandboxSettings, ErrorBody> {
    given
        .map_or_else(|| Ok(SandboxSettings::default()), |given| Ok(SandboxSettings::parse(given.0.as_str())?))
}

/// Settings that mean the same must be equal: an empty list becomes none, and each place is named in one way, once.
fn in_one_form(sandbox: SandboxSettings) -> SandboxSettings {
    let each = |list: Option<Vec<String>>, form: fn(&String) -> String| {
        let mut named: Vec<String> = Vec::new();
        for entry in list.iter().flatten().map(form) {
            if !named.contains(&entry) {
                named.push(entry);
            }
        }
        Some(named).filter(|list| !list.is_empty())
    };
    let path = |path: &String| clean(path).unwrap_or_else(|| path.clone());
    SandboxSettings {
        required: sandbox.required.filter(|required| *required),
        read: each(sandbox.read, path),
        write: each(sandbox.write, path),
        sockets: each(sandbox.sockets, path),
        hosts: each(sandbox.hosts, |host| host.to_ascii_lowercase()),
        ..sandbox
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_nothing_is_not_there() {
        let parsed = |text: &str| checked(SandboxSettings::parse(text).unwrap()).unwrap();
        let empty = r#"{"required":false,"read":[],"write":[],"sockets":[],"hosts":[]}"#;
        assert_eq!(parsed(empty), SandboxSettings::default());
        let twice = r#"{"read":["/a/","/a","//a/."],"network":"hosts","hosts":["X.org","x.ORG"]}"#;
        let once = r#"{"read":["/a"],"network":"hosts","hosts":["x.org"]}"#;
        assert_eq!(parsed(twice), SandboxSettings::parse(once).unwrap());
        let full = r#"{"level":"strict","required":true,"read":["/a"],"write":["/b"],"sockets":["/c"],"network":"hosts","hosts":["x.org"],"memory_mb":64}"#;
        assert_eq!(parsed(full), SandboxSettings::parse(full).unwrap());
    }
}
