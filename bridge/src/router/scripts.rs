//! `host_run_script`: a script on behalf of an origin.
//!
//! Owns its fields and its reply. Must never look into the script.

use std::rc::Rc;

use harbor_ipc_proto::client::{HostRunScript, HostRunScriptResult};
use harbor_policy::tool_name::Allowlist;

use super::grants::asker;
use super::pending_reply::PendingReply;
use super::reply::reply;
use crate::host::asker::Caller;
use crate::host::invalid;
use crate::scripts::ClientCalls;

/// Begins it. It ends with its request.
pub(super) fn run(pending: PendingReply, message: HostRunScript) {
    let asker = match asker(&pending.client, &message.origin, &message.profile, message.tab_id) {
        Ok(asker) => asker,
        Err(error) => return pending.give(Err(error)),
    };
    let only = match message.only.as_deref().map(Allowlist::parse).transpose() {
        Ok(only) => only,
        Err(_) => return pending.give(Err(invalid("only", "patterns: server/tool, server/* or *"))),
    };
    let (router, client, id) = (pending.router.clone(), pending.client.clone(), pending.id.clone());
    client.spawn(&id, async move {
        let party = Caller::Origin(asker.clone()).party();
        let calls = Rc::new(ClientCalls { host: router.host.clone(), asker, only });
        let ended = router.scripts.run(&message.script, party, calls).await;
        pending
            .give(ended.and_then(|end| reply(HostRunScriptResult { result: end.result, calls: end.calls })));
    });
}
