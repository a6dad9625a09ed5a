//! Definitions as their owner sees them again: to change them, or to compare them with others.
//!
//! Must never give out a value of a variable or a header.

use std::collections::{BTreeMap, BTreeSet};

use harbor_ipc_proto::client::{CompareServer, CompareServerResult, DefinitionView, GetDefinitionResult};
use harbor_ipc_proto::secret::SecretMap;
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::credentials::Credentials;
use harbor_policy::remote::shown;

use super::reply::{Handled, reply};
use super::state::Router;
use crate::install::secrets;
use crate::store::definitions::Definition;

pub(super) fn get(router: &Router, id: &ServerId) -> Handled {
    let definition = Definition::clone(&*router.host.server(id)?.definition());
    let Definition { command, args, env, cwd, label, roots, supervision, as_is, sandbox, secrets, .. } =
        definition;
    let (remote, image) = (definition.remote, definition.image);
    let definition = DefinitionView {
        server_id: id.to_string(),
        label,
        command: Some(command).filter(|command| !command.is_empty()),
        engine: image.as_ref().and_then(|image| image.engine.clone()),
        image: image.map(|image| image.reference),
        args,
        env_names: env.into_keys().collect(),
        cwd,
        roots,
        as_is,
        secrets,
        supervision,
        sandbox,
        url: remote.as_ref().map(|remote| shown(&remote.url)),
        transport_type: remote.as_ref().map(|remote| remote.transport.as_str().into()),
        allow_private: remote.as_ref().is_some_and(|remote| remote.allow_private),
        allow_http: remote.as_ref().is_some_and(|remote| remote.allow_http),
        header_names: remote.into_iter().flat_map(|remote| remote.headers.into_keys()).collect(),
    };
    reply(GetDefinitionResult { definition })
}

pub(super) async fn compare(router: &Router, message: CompareServer) -> Handled {
    let id = &message.server_id;
    let definition = router.host.server(id)?.definition();
    let secrets = secrets::of(router.supervisor.secrets(), id).await?;
    let remote = definition.remote.as_ref();
    let nothing = BTreeMap::new();
    let headers = remote.map_or(&nothing, |remote| &remote.headers);
    let mut differs = different(message.env, &definition.env, &secrets);
    differs.extend(different(message.headers, headers, &secrets));
    let url = message.url.as_ref().map(|url| url.expose());
    if url != remote.map(|remote| &*remote.url) {
        differs.push("url".into());
    }
    if message.args.is_some_and(|args| args != definition.args) {
        differs.push("arguments".into());
    }
    reply(CompareServerResult { differs })
}

/// The names whose values differ.
fn different(
    theirs: Option<SecretMap>,
    ours: &BTreeMap<String, String>,
    secrets: &Credentials,
) -> Vec<String> {
    let theirs = theirs.unwrap_or_default().0;
    let of_secret = |name: &String| secrets.0.get(name).map(|secret| secret.value.expose());
    let has = |name: &String| of_secret(name).or_else(|| ours.get(name).map(String::as_str));
    let names: BTreeSet<_> = theirs.keys().chain(ours.keys()).collect();
    let differs = names.into_iter().filter(|name| theirs.get(*name).map(|value| value.expose()) != has(name));
    differs.cloned().collect()
}
