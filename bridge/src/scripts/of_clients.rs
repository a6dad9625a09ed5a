//! The calls of an AI client's script: each is a call of that client.
//!
//! Owns which tools the client keeps to. Must never make a call that the client could not make by itself.

use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::json::Json;
use harbor_policy::tool_name::Allowlist;

use super::{ScriptCall, ScriptCalls};
use crate::host::asker::{Asker, Caller};
use crate::host::{AskedTime, Consenting, Host, ToolCall};
use crate::link::Audience;

/// The calls of one client's script.
#[derive(Debug)]
pub struct ClientCalls {
    /// Makes them.
    pub host: Rc<Host>,
    /// The client.
    pub asker: Asker,
    /// The tools that the client has limited itself to.
    pub only: Option<Allowlist>,
}

impl ScriptCalls for ClientCalls {
    async fn call(self: Rc<Self>, call: ScriptCall) -> Result<Json, ErrorBody> {
        let ScriptCall { source, tool, arguments } = call;
        if self.only.as_ref().is_some_and(|only| !only.covers(&source, &tool)) {
            let why = format!("{source}/{tool:.200} is not among the tools of this client");
            return Err(ErrorBody::new(Code::ToolNotAllowed, why));
        }
        let caller = Caller::Origin(self.asker.clone());
        let call = ToolCall {
            source,
            tool,
            arguments,
            task: None,
            time: AskedTime { timeout: None, whole: None },
            run_id: None,
            unless_stopped: false,
            audience: Audience { party: Some(caller.party()), ..Audience::default() },
            consent: Consenting::default(),
        };
        let called = self.host.call_tool(self.host.note_call(caller, call)).await;
        called.map(|answer| answer.result)
    }
}
