//! Scripts that Harbor keeps for its interpreter of JavaScript.
//!
//! Owns which definition may have one, and when a new definition keeps the one before. Must never read the person's file.

use std::path::Path;
use std::rc::Rc;

use harbor_ipc_proto::client::AddServer;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_policy::program::JS_RUNNER;

use super::installations::Installations;
use crate::host::invalid;
use crate::store::definitions::Definition;

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
    name_a_file(args, "first the absolute path of the script")
}

/// Checks that arguments begin with a file, as those of an interpreter do.
pub(super) fn name_a_file(args: &[String], expected: &'static str) -> Result<(), ErrorBody> {
    match args.first().map(Path::new).filter(|file| file.is_absolute() && file.file_name().is_some()) {
        Some(_) => Ok(()),
        None => Err(invalid("args", expected)),
    }
}

/// The definition before, if it has this interpreter run the same file as the message.
pub(super) fn before(
    installs: &Installations,
    message: &AddServer,
    interpreter: &str,
) -> Option<Rc<Definition>> {
    let before = installs.supervisor.get(&message.server_id)?.definition();
    let is_same = message.command.as_deref() == Some(interpreter)
        && before.command == interpreter
        && message.args.as_ref().and_then(|args| args.first()) == before.args.first();
    is_same.then_some(before)
}

/// Takes over the script of the definition before, if the message is about the same file and has none.
pub(super) fn keep(installs: &Installations, message: &mut AddServer) {
    if message.script.is_none()
        && let Some(before) = before(installs, message, JS_RUNNER)
    {
        message.script.clone_from(&before.script);
    }
}
