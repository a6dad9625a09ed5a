//! Scripts that Harbor keeps for its interpreter of JavaScript.
//!
//! Owns which definition may have one, and when a new definition keeps the one before. Must never read the person's file.

use std::path::Path;

use harbor_ipc_proto::client::AddServer;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_policy::program::JS_RUNNER;

use super::installations::Installations;
use crate::host::invalid;

/// The longest script, in bytes; the interpreter has the same limit.
const MAX_SCRIPT: usize = 512 * 1024;

/// Checks a script that is to be kept.
pub(super) fn may_be_kept(command: &str, args: &[String], script: &str) -> Result<(), ErrorBody> {
    if command != JS_RUNNER {
        return Err(invalid("script", "only with the command harbor-runner-js"));
    }
    if script.len() > MAX_SCRIPT || script.contains('\0') {
        return Err(invalid("script", "a text of at most 512 KiB without NUL characters"));
    }
    match args.first().map(Path::new).filter(|file| file.is_absolute() && file.file_name().is_some()) {
        Some(_) => Ok(()),
        None => Err(invalid("args", "first the absolute path of the script")),
    }
}

/// Takes over the script of the definition before, if the message is about the same file and has none.
pub(super) fn keep(installs: &Installations, message: &mut AddServer) {
    let Some(before) = installs.supervisor.get(&message.server_id).map(|server| server.definition()) else {
        return;
    };
    let is_same = message.command.as_deref() == Some(JS_RUNNER)
        && before.command == JS_RUNNER
        && message.args.as_ref().and_then(|args| args.first()) == before.args.first();
    if is_same && message.script.is_none() {
        message.script.clone_from(&before.script);
    }
}
