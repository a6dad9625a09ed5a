//! The definition of a remote server, made of a message.
//!
//! Owns the checks of its address and headers. Must never connect.

use std::collections::BTreeMap;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{AddRemoteServer, SandboxSettings};
use harbor_ipc_proto::codes::Code;
use harbor_policy::remote::AllowedAddresses;
use harbor_policy::{environment, remote, settings};

use super::definition::supervision;
use crate::host::invalid;
use crate::store::definitions::{Carried, Definition, Remote};

/// Checks what the message's types do not.
pub(super) fn definition(message: AddRemoteServer) -> Result<Definition, ErrorBody> {
    let env = message.env.unwrap_or_default();
    if let Some(why) = env.iter().find_map(|(name, value)| environment::wrong_variable(name, value)) {
        return Err(invalid("env", why));
    }
    let roots = message.roots.unwrap_or_default();
    if !roots.iter().all(|uri| uri.starts_with("file://")) {
        return Err(invalid("roots", "file:// URIs"));
    }
    let word = message.transport_type.as_deref().unwrap_or("auto");
    let transport = Carried::of(word).ok_or_else(|| invalid("transport_type", "http, sse or auto"))?;
    let remote = Remote {
        transport,
        headers: message.headers.unwrap_or_default(),
        allow_private: message.allow_private == Some(true),
        allow_http: message.allow_http == Some(true),
        url: message.url,
    };
    checked(&remote)?;
    let definition = Definition {
        command: String::new(),
        args: Vec::new(),
        env,
        cwd: None,
        label: message.label,
        roots,
        supervision: supervision(message.supervision)?,
        as_is: true,
        sandbox: SandboxSettings::default(),
        secrets: Vec::new(),
        image: None,
        remote: Some(remote),
        script: None,
        module: None,
        install_env: BTreeMap::new(),
        with: Vec::new(),
    };
    let ranges = settings::Settings::new(&definition.supervision, false);
    ranges.map_err(|wrong| invalid(wrong.field, wrong.expected))?;
    Ok(definition)
}

fn checked(given: &Remote) -> Result<(), ErrorBody> {
    let url = remote::parse(&given.url).map_err(|why| invalid("url", why))?;
    let mut lacks = Vec::new();
    if !AllowedAddresses::of(&url, given.allow_private).permits_host(&url) {
        lacks.push(("is a private address", "allow_private (--allow-private)"));
    }
    if remote::is_exposed(&url) && !given.allow_http {
        lacks.push(("has no TLS", "allow_http (--allow-http)"));
    }
    if !lacks.is_empty() {
        let (what, with): (Vec<_>, Vec<_>) = lacks.into_iter().unzip();
        let (place, what, with) = (remote::place(&url), what.join(", and "), with.join(" and "));
        let text = format!("{place} {what}; {with} allows it");
        return Err(ErrorBody::new(Code::InvalidParams, text).with("field", "url"));
    }
    match remote::wrong_headers(&given.headers) {
        Some(why) => {
            let text = format!("field `headers`: expected {why}");
            Err(ErrorBody::new(Code::InvalidParams, text).with("field", "headers").with("expected", &why))
        }
        None => Ok(()),
    }
}
