//! Tool calls, of the owner, of AI clients and of pages.
//!
//! ```text
//!  message ─► Caller, ToolCall ─► noted ─► a task: host.call_tool ─► reply
//! ```
//!
//! Owns reading their fields and writing their replies. Must never look into arguments or results.

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{
    CallRequest, HostCallTool, HostCallToolResult, McpCallTool, McpCallToolResult, Provenance,
};
use harbor_ipc_proto::hex::hex;
use harbor_policy::access::Pass;
use harbor_policy::tool_name;

use super::confirming;
use super::dispatch::caller;
use super::grants::{asker, wrong_tool};
use super::mcp::object;
use super::pending_reply::PendingReply;
use super::progress_reporter::progress_to;
use super::questions::answerer_of;
use super::reply::{Handled, reply};
use super::scripts;
use crate::host::asker::Caller;
use crate::host::{AskedTime, Consenting, ToolAnswer, ToolCall};
use crate::link::Audience;

/// Begins the call that a request asks for.
pub(super) fn begin(pending: PendingReply, pass: Pass, request: CallRequest) {
    match request {
        CallRequest::McpCallTool(message) => mcp(pending, pass, message),
        CallRequest::HostCallTool(message) => host(pending, message),
        CallRequest::HostRunScript(message) => scripts::run(pending, message),
    }
}

/// A call of the owner, or of an AI client.
fn mcp(pending: PendingReply, pass: Pass, message: McpCallTool) {
    let caller = match caller(&pending.client, pass, message.server_id.kind()) {
        Ok(caller) => caller,
        Err(error) => return pending.give(Err(error)),
    };
    // Only servers ask questions.
    let answerer = message.server_id.as_server().and_then(|server| {
        answerer_of(&pending.router.host, &pending.client, &pending.id, &server, message.answers)
    });
    let progress = progress_to(&pending.client, &pending.id, message.progress);
    let call = ToolCall {
        source: message.server_id,
        tool: message.tool_name.into(),
        arguments: object(message.arguments),
        task: message.task.map(|task| task.0.into_string()),
        time: AskedTime { timeout: message.timeout_ms, whole: message.max_timeout_ms },
        run_id: None,
        unless_stopped: message.unless_stopped == Some(true),
        audience: Audience { party: Some(caller.party()), progress, answerer, ..Audience::default() },
        consent: Consenting::default(),
    };
    make(pending, caller, call, |ToolAnswer { result, beside, .. }| {
        reply(McpCallToolResult { result, beside: said(beside) })
    });
}

/// A call on behalf of an origin.
fn host(pending: PendingReply, message: HostCallTool) {
    match of_origin(&pending, message) {
        Ok((caller, call)) => {
            let (server_id, tool_name) = (call.source.shared(), call.tool.clone());
            make(pending, caller, call, move |ToolAnswer { result, beside, took, hash }| {
                let provenance = Provenance {
                    serverId: server_id.to_string(),
                    toolName: tool_name.to_string(),
                    durationMs: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
                    toolHash: hash.map(|hash| hex(&hash)).unwrap_or_default(),
                };
                reply(HostCallToolResult { result, beside: said(beside), provenance })
            });
        }
        Err(error) => pending.give(Err(error)),
    }
}

fn of_origin(pending: &PendingReply, message: HostCallTool) -> Result<(Caller, ToolCall), ErrorBody> {
    let caller = Caller::Origin(asker(&pending.client, &message.origin, &message.profile, message.tab_id)?);
    let (source, tool) = tool_name::split(&message.tool_name).map_err(|wrong| wrong_tool(&wrong))?;
    let form = confirming::form_of(pending, &caller, message.answers.as_ref());
    // Only servers ask questions.
    let answerer = source.as_server().and_then(|server| {
        answerer_of(&pending.router.host, &pending.client, &pending.id, &server, message.answers)
    });
    let progress = progress_to(&pending.client, &pending.id, message.progress);
    let call = ToolCall {
        tool: tool.into(),
        source,
        arguments: object(message.args),
        task: None,
        time: AskedTime { timeout: message.timeout_ms, whole: message.max_timeout_ms },
        run_id: message.run_id,
        unless_stopped: false,
        audience: Audience { party: Some(caller.party()), progress, answerer, ..Audience::default() },
        consent: Consenting { form, ..Consenting::default() },
    };
    Ok((caller, call))
}

fn said(beside: Vec<String>) -> Option<Vec<String>> {
    Some(beside).filter(|said| !said.is_empty())
}

/// Has a task make the call and answer the request. Tasks begin in the order in which their requests came, so no call
/// overtakes the end of the grant that it needs.
fn make(
    pending: PendingReply,
    caller: Caller,
    call: ToolCall,
    shown: impl FnOnce(ToolAnswer) -> Handled + 'static,
) {
    let (host, client, id) = (pending.router.host.clone(), pending.client.clone(), pending.id.clone());
    let noted = host.note_call(caller, call);
    client.spawn(&id, async move {
        let called = host.call_tool(noted).await;
        pending.give(called.and_then(shown));
    });
}
