//! The errors for a trial that does not run.
//!
//! Owns their fields, by which clients offer the next step. Must never show a value that the server was given.

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::credentials::{Credential, named_as_missing};
use harbor_policy::package::failure::{required_python, skipped_by};

use crate::host::start_failed;
use crate::store::definitions::Definition;
use crate::supervisor::{NEEDS_BUILD, StartError};

/// The state after a failed installation, in the error.
pub(super) const NOTHING: &str = "nothing";

/// The state after a failed upgrade, in the error.
pub(super) const AS_BEFORE: &str = "as_before";

/// The error for a trial that does not run, and is removed. `left` names the state afterwards, `given` its
/// variables and secrets.
pub(super) fn failed(id: &ServerId, why: &StartError, left: &str, given: &[String]) -> ErrorBody {
    let error = start_failed(id, why);
    let StartError::Failed(report) = why else { return error.with("left", left) };
    match report.cause {
        NEEDS_BUILD => needs_build(),
        // The package failed, not a server.
        "install_failed" => {
            let error = ErrorBody { message: report.message.clone(), ..error }.with("left", left);
            let python = required_python(&report.message).and_then(|requires| requires.step());
            if let Some(step) = python {
                return error.with("python", &step);
            }
            match skipped_by(&report.stderr_tail) {
                Some(variable) => error.with("skipped_by", variable),
                None => error,
            }
        }
        _ => match missing_variable(&report.stderr_tail, given) {
            Some(variable) => error.with("variable", variable).with("left", left),
            None => error.with("left", left),
        },
    }
}

/// The variable that a server reports as missing, unless it was given: then the fault is in its value.
pub(super) fn missing_variable<'a>(said: &'a str, given: &[String]) -> Option<&'a str> {
    named_as_missing(said).filter(|name| !given.iter().any(|given| given == name))
}

/// Names of the variables and secrets of a definition, and of secrets that are not stored yet.
pub(super) fn names_given(definition: &Definition, given: &[(String, Credential)]) -> Vec<String> {
    let Definition { env, secrets, .. } = definition;
    env.keys().chain(secrets).chain(given.iter().map(|(name, _)| name)).cloned().collect()
}

/// The error for a package whose code would have to run, without permission.
pub(super) fn needs_build() -> ErrorBody {
    let message = "code of the package must run to find out what it needs; `build` allows that, in a sandbox without your files";
    ErrorBody::new(Code::InvalidParams, message).with("field", "build").with("cause", NEEDS_BUILD)
}
