//! The arguments of a server's program.
//!
//! Owns which of a definition's arguments are the program's own. Other arguments may mean another program: then nothing that the
//! first one was given passes on.

use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{SandboxSettings, UpdateServerArgs, UpdateServerArgsResult};
use harbor_ipc_proto::field::Message as _;
use harbor_policy::package::source;

use super::audit_record::about;
use super::claims::not_claimed;
use super::installations::Installations;
use super::replacing::{change_to_accept, old_data, replace, stored};
use crate::host::asker::Sender;
use crate::host::{invalid, server_view, to_the_end};
use crate::store::definitions::Definition;

pub(super) async fn set_args(
    installs: &Rc<Installations>,
    sender: &Rc<Sender>,
    message: UpdateServerArgs,
) -> Result<UpdateServerArgsResult, ErrorBody> {
    let UpdateServerArgs { server_id, args } = message;
    not_claimed(installs, &server_id).await?;
    if args.iter().any(|arg| arg.contains('\0')) {
        return Err(invalid("args", "texts without NUL characters"));
    }
    let (installs, sender) = (installs.clone(), sender.clone());
    to_the_end(async move {
        let changing = installs.changing.lock().await;
        let server = installs.host.server(&server_id)?;
        let before = server.definition();
        let args = with_own(&before, &args);
        let mut definition = Definition { args, ..Definition::clone(&before) };
        if definition.program() != before.program() {
            definition.sandbox = SandboxSettings::default();
        }
        installs.host.trail.decided(UpdateServerArgs::TAG, &sender, about(&server_id), true).await?;
        installs.definitions.put(&server_id, &definition).await.map_err(|error| stored(&error))?;
        // An argument may name another program, to which nothing passes on.
        old_data(&installs, &server_id, &definition, false).await?;
        let (server, _) = replace(&installs, changing, server_id, definition).await;
        change_to_accept(&installs, &server).await?;
        Ok(UpdateServerArgsResult { server: server_view(&installs.host, &server) })
    })
    .await
}

/// All arguments of a definition, with these as its program's own.
pub(super) fn with_own(definition: &Definition, args: &[String]) -> Vec<String> {
    if definition.script.is_some() || definition.module.is_some() {
        // The first one names the script or module.
        let file = definition.args.first().cloned();
        return file.into_iter().chain(args.iter().cloned()).collect();
    }
    match (source::is_source(&definition.command), definition.package()) {
        // After npx and uvx, the package's own arguments come last.
        (false, Some(package)) => {
            let of_wrapper = definition.args.len().saturating_sub(package.args.len());
            [definition.args.get(..of_wrapper).unwrap_or_default(), args].concat()
        }
        _ => args.to_vec(),
    }
}
