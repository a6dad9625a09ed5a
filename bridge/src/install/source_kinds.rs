//! The kinds of sources, and what a message may say of each.
//!
//! Owns the refusal of fields that belong to another kind. Must never look at the disk.

use harbor_ipc_proto::client::InstallServer;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::recipe::source::{self, InstallSource, KINDS};

use crate::host::invalid;

/// The kind of a source.
pub(super) fn sorted(source: &str) -> Result<InstallSource, ErrorBody> {
    source::sort(source).map_err(|why| wrong(&why))
}

/// The error for a source that cannot be read.
pub(super) fn wrong(why: &str) -> ErrorBody {
    ErrorBody::new(Code::InvalidParams, why).with("field", "source").with("expected", KINDS)
}

/// The address of a server with placeholders, with something in their places.
pub(super) fn sample(source: &str) -> Option<String> {
    let is_unfilled =
        source.contains('{') && ["https://", "http://"].iter().any(|start| source.starts_with(start));
    let sample = source.replace(['{', '}'], "x");
    (is_unfilled && matches!(source::sort(&sample), Ok(InstallSource::Remote(_)))).then_some(sample)
}

/// The secrets that are needed and were not given.
pub(super) fn lacking(message: &InstallServer) -> Vec<String> {
    let given =
        |name: &String| message.secret_values.as_ref().is_some_and(|given| given.0.contains_key(name));
    message.secrets.iter().flatten().filter(|name| !given(name)).cloned().collect()
}

/// The given name, or one made from the source.
pub(super) fn named(message: &InstallServer, source: &InstallSource) -> Result<ServerId, ErrorBody> {
    let id = message.server_id.clone().or_else(|| source::default_name(source));
    id.ok_or_else(|| {
        let message = format!("no name can be made from {}; pass --name", message.source);
        ErrorBody::new(Code::InvalidParams, message).with("field", "server_id")
    })
}

/// Checks that the message has nothing that only a remote server knows.
pub(super) fn nothing_of_remotes(message: &InstallServer) -> Result<(), ErrorBody> {
    let said = message.headers.as_ref().is_some_and(|headers| !headers.is_empty());
    match said || message.transport_type.is_some() {
        true => Err(invalid("headers", "only for a remote server")),
        false => Ok(()),
    }
}

/// True if the message has a field that only an installer of packages knows.
pub(super) fn is_of_packages(message: &InstallServer) -> bool {
    let is_said = |with: &Vec<String>| !with.is_empty();
    message.install_env.as_ref().is_some_and(|env| !env.is_empty())
        || message.with.as_ref().is_some_and(is_said)
}
