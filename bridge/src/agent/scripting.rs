//! A script that the model of a turn has written: each of its calls is a call of the turn.
//!
//! ```text
//!  run_script ─► scripts ─► a call ─► a tool of this turn? ─► fewer than the turn has left? ─► Candidate ─► the one road
//! ```
//!
//! Owns what belongs to each of these calls: the tool as the model was told of it, the session that has read its result, and the step
//! at which the person is asked about it. Must never make a call that the turn could not make.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Instant;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::source_id::SourceKind;

use super::Agent;
use super::approving::Candidate;
use super::on_behalf::{Answerers, OnBehalf};
use super::session::Session;
use crate::host::{ToolAnswer, Usable};
use crate::scripts::{ScriptCall, ScriptCalls};

/// The calls of one script.
pub(super) struct TurnCalls {
    pub agent: Rc<Agent>,
    pub on_behalf: Rc<OnBehalf>,
    pub session: Rc<Session>,
    /// The tools of the turn, by `source/tool`.
    pub usable: Rc<BTreeMap<String, Usable>>,
    /// The turn's id.
    pub turn: String,
    /// The step that runs the script.
    pub call_id: String,
    pub answerers: Option<Answerers>,
    /// The calls that scripts of this turn may still make.
    pub left: Rc<Cell<u32>>,
}

impl ScriptCalls for TurnCalls {
    async fn call(self: Rc<Self>, call: ScriptCall) -> Result<Json, ErrorBody> {
        let name = format!("{}/{}", call.source, call.tool);
        let usable = self.usable.get(&name).cloned();
        let usable = usable.ok_or_else(|| {
            let why = format!("there is no tool {name:.200}; search_tools finds tools");
            ErrorBody::new(Code::ToolNotFound, why)
        })?;
        let left = self.left.get().checked_sub(1).ok_or_else(|| {
            ErrorBody::new(Code::BudgetExceeded, "this turn has reached its limit of calls")
        })?;
        self.left.set(left);
        let called = (usable, call.arguments.as_str());
        let candidate = Candidate::new(&self.agent, &self.on_behalf, &self.session, called, &self.call_id);
        let called = self.agent.call_tool(candidate, self.turn.clone(), self.answerers.clone()).await;
        called.map(|answer| answer.result)
    }
}

impl Agent {
    /// Runs a script of a turn. Dropping this ends it, and its calls.
    pub(super) async fn run_script(
        &self,
        script: &str,
        calls: Rc<TurnCalls>,
    ) -> Result<ToolAnswer, ErrorBody> {
        let (began, party) = (Instant::now(), calls.on_behalf.caller(SourceKind::Server).party());
        let ended = self.scripts.run(script, party, calls).await?;
        Ok(ToolAnswer { result: ended.result, beside: Vec::new(), took: began.elapsed(), hash: None })
    }
}
