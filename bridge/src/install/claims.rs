//! Names of servers: who may have one, and who installs or upgrades it.
//!
//! Owns the errors for a name that is taken. The supervisor holds the claims.

use std::time::Duration;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::server_id::ServerId;
use harbor_ipc_proto::source_id;

use super::installations::Installations;
use crate::supervisor::Claim;

/// How long a name may still be taken after its upgrade was dropped.
const FREE: Duration = Duration::from_secs(30);

/// How long an answer waits until the trial's files and processes are gone.
const SETTLED: Duration = Duration::from_secs(2);

/// Checks that a server of this name is not being installed or upgraded.
pub(super) async fn not_claimed(installs: &Installations, id: &ServerId) -> Result<(), ErrorBody> {
    match installs.supervisor.is_unclaimed(id, FREE).await {
        true => Ok(()),
        false => Err(busy(id)),
    }
}

/// The error for a name that somebody installs or upgrades.
pub(super) fn busy(id: &ServerId) -> ErrorBody {
    let message = format!("{id} is being installed or upgraded; try again when that is over");
    ErrorBody::new(Code::InvalidParams, message).with("field", "server_id")
}

/// Waits until a trial is gone, but not for long: a caller that hears of the end of an installation may continue at once.
pub(super) async fn until_free(installs: &Installations, id: &ServerId) {
    installs.supervisor.is_unclaimed(id, SETTLED).await;
}

/// Claims a name. Its last claimant may still be cleaning up.
pub(super) async fn claim(installs: &Installations, id: &ServerId) -> Result<Claim, ErrorBody> {
    not_claimed(installs, id).await?;
    installs.supervisor.claim(id).ok_or_else(|| busy(id))
}

/// Claims a name that no server has. Its last claimant may have installed a server meanwhile.
pub(super) async fn claim_new(installs: &Installations, id: &ServerId) -> Result<Claim, ErrorBody> {
    let claim = claim(installs, id).await?;
    not_there(installs, id).map(|()| claim)
}

/// Checks that the name may be a server's: no other kind of source has it, and no engine.
pub(super) fn may_be_named(id: &ServerId) -> Result<(), ErrorBody> {
    let whose = match (source_id::is_reserved(id), id.is_of_engine()) {
        (false, false) => return Ok(()),
        (true, _) => "of the browser's own tools",
        (false, true) => "of a program that runs models",
    };
    let message = format!("{id} is the name {whose}; give the server another name");
    Err(ErrorBody::new(Code::InvalidParams, message).with("field", "server_id"))
}

/// Checks that no server has the name, and that a server may have it.
pub(super) fn not_there(installs: &Installations, id: &ServerId) -> Result<(), ErrorBody> {
    may_be_named(id)?;
    match installs.supervisor.get(id) {
        None => Ok(()),
        Some(_) => {
            let message = format!(
                "a server {id} exists already; choose another name with --name, or upgrade it: `harbor upgrade {id}`"
            );
            Err(ErrorBody::new(Code::InvalidParams, message).with("field", "server_id"))
        }
    }
}
