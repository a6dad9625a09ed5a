//! The message that defines a remote server.

use std::collections::BTreeMap;
use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{AddRemoteServer, AddRemoteServerResult, SandboxSettings};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::Message as _;
use harbor_policy::remote::AllowedAddresses;
use harbor_policy::{environment, remote, settings};

use super::client::Client;
use super::servers::{about, settled, stored, supervision};
use super::views::view;
use super::{Handled, Router, definitions, installs, invalid, reply, to_the_end};
use crate::store::definitions::{Carried, Definition, Remote, Stored};

pub(super) async fn add(router: &Rc<Router>, client: &Client, mut message: AddRemoteServer) -> Handled {
    let server_id = message.server_id.clone();
    definitions::keep(router, &server_id, message.keep_env.take(), "keep_env", &mut message.env)?;
    definitions::keep(router, &server_id, message.keep_headers.take(), "keep_headers", &mut message.headers)?;
    if message.keep_url == Some(true) {
        message.url = definitions::url(router, &server_id)?;
    }
    let definition = definition(message)?;
    installs::may_be_named(&server_id)?;
    installs::not_claimed(router, &server_id).await?;
    let (router, sender) = (router.clone(), client.sender());
    to_the_end(async move {
        router.host.trail.decided(AddRemoteServer::TAG, &sender, about(&server_id), true).await?;
        let turn = router.changing.lock().await;
        router.definitions.put(&server_id, &definition).await.map_err(|error| stored(&error))?;
        let looked = router.supervisor.look(Stored { server_id, definition, era: None }).await;
        let (server, before) = router.supervisor.put(looked);
        let program_change = settled(&router, &server).await?;
        drop(turn);
        if let Some(before) = &before {
            before.down().await;
        }
        reply(AddRemoteServerResult {
            server: view(&router, &server),
            replaced: before.is_some(),
            program_change,
        })
    })
    .await
}

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
        lacks.push(("is without TLS", "allow_http (--allow-http)"));
    }
    if !lacks.is_empty() {
        let (what, with): (Vec<_>, Vec<_>) = lacks.into_iter().unzip();
        let (place, what, with) = (remote::place(&url), what.join(", and "), with.join(" and "));
        let text = format!("{place} {what}; {with} takes it all the same");
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
