//! A run: a task of an origin, done by the person's model with the tools that the origin was granted.
//!
//! Owns two rules: a run is one of `host`'s, with its limit of calls, and it ends with the request that asked for it.
//! Nothing of it is kept, except in its origin's session.

use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::model::{Part, ToolChoice};
use harbor_policy::consent::Names;
use tokio::task::JoinHandle;

use super::Agent;
use super::mode::SessionMode;
use super::on_behalf::OnBehalf;
use super::outcome::TurnOutcome;
use super::owned_session::OwnedSession;
use super::saying::TurnInput;
use super::session::{Session, SessionHead};
use super::turn_log::TurnLog;
use crate::config::Feature;
use crate::host::asker::Asker;

/// The number of calls of a run that states none.
const CALLS: u32 = 5;

/// A task that an origin wants done.
#[derive(Debug)]
pub struct Task {
    /// In words.
    pub task: String,
    /// The tools, `source/tool`; all that it may call when absent.
    pub tools: Option<Vec<String>>,
    /// The provider.
    pub provider: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// Calls at most.
    pub max_tool_calls: Option<u32>,
    /// True if the answer has to name its sources.
    pub cites: bool,
    /// The origin's session that it belongs to.
    pub session: Option<String>,
}

/// A run that is under way. It ends when this is dropped.
pub struct Run {
    /// Its id.
    pub id: String,
    /// Its events.
    pub log: Rc<TurnLog>,
    /// Its outcome.
    pub outcome: JoinHandle<TurnOutcome>,
    session: Rc<Session>,
    counted: CountedRun,
}

/// A run of `host`'s, and the facts about it for its origin's session.
struct CountedRun {
    agent: Rc<Agent>,
    asker: Asker,
    run: String,
    /// The calls that it may make; counted as made if nobody knows better.
    calls: u32,
    owned: Option<Rc<OwnedSession>>,
}

impl Drop for CountedRun {
    fn drop(&mut self) {
        // The run may have gone stale, or have gone with its client.
        let made = self.agent.host.runs.end(&self.asker, &self.run).map_or(self.calls, |run| run.used);
        self.owned.iter().for_each(|owned| owned.ended(made));
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // A session goes on; another run may be in it by now.
        if self.counted.owned.is_none() {
            self.session.end();
            self.counted.agent.host.consent.end_chat(&self.session.id);
        } else if !self.log.is_over() {
            self.session.stop();
        }
    }
}

impl Run {
    /// The run is over: the tokens that it used count in its origin's session.
    pub fn took(&self, outcome: &TurnOutcome) {
        self.counted.owned.iter().for_each(|owned| owned.took(outcome));
    }
}

impl Agent {
    /// Begins a run.
    ///
    /// # Errors
    /// Why it may not.
    pub async fn start_run(self: &Rc<Self>, asker: Asker, task: Task) -> Result<Run, ErrorBody> {
        // Permission is checked before anything could be found out.
        self.host.offers(&asker, Feature::AgentRuns)?;
        self.host.model_permit(&asker, true).await?;
        self.host.may_choose_model(&asker, task.provider.as_ref(), task.model.as_ref()).await?;
        let owned = task.session.as_deref().map(|id| self.owned(&asker, id)).transpose()?;
        let left = owned.as_ref().map_or(Ok(u32::MAX), |owned| left_of(owned))?;
        let calls = task.max_tool_calls.unwrap_or(CALLS).min(self.host.most_calls(&asker)).min(left);
        let tools = match &owned {
            Some(owned) => Some(tools_in(owned, task.tools)?),
            None => task.tools,
        };
        let (run, _) = self.host.create_run(&asker, Some(calls.max(1))).await?;
        let session = match &owned {
            Some(owned) => owned.session.clone(),
            None => {
                let head =
                    SessionHead { model: task.model.clone(), ..SessionHead::new(SessionMode::Ask, true) };
                Session::new(run.clone(), head, Vec::new())
            }
        };
        let wish = owned.as_ref().map(|owned| &owned.wish);
        let said = TurnInput {
            parts: vec![Part::Text(task.task)],
            attached: Names::new(),
            typed: None,
            model: None,
            provider: task.provider.or_else(|| wish.and_then(|wish| wish.provider.clone())),
            tools,
            tool_choice: ToolChoice::Auto,
            max_tool_calls: Some(calls),
            max_tokens: None,
            temperature: wish.and_then(|wish| wish.temperature),
            cites: task.cites,
            answerers: None,
        };
        let on_behalf = OnBehalf::Origin { asker: asker.clone(), run: run.clone() };
        let counted = CountedRun { agent: self.clone(), asker, run: run.clone(), calls, owned };
        let (log, outcome) = self.say(&session, on_behalf, said).await?;
        counted.owned.iter().for_each(|owned| owned.began());
        Ok(Run { id: run, log, outcome, session, counted })
    }
}

/// The calls that are left to a session.
fn left_of(owned: &OwnedSession) -> Result<u32, ErrorBody> {
    if !owned.wish.llm {
        let message = "this session has no model: a run needs one that was created with `llm`";
        return Err(ErrorBody::new(Code::ScopeRequired, message).with("scope", "model:prompt"));
    }
    match owned.left() {
        0 => Err(ErrorBody::new(Code::BudgetExceeded, "this session has made all its calls")),
        left => Ok(left),
    }
}

/// The tools of a run in a session: all of the session's, or those of them that the run names.
fn tools_in(owned: &OwnedSession, named: Option<Vec<String>>) -> Result<Vec<String>, ErrorBody> {
    let all = &owned.wish.tools;
    let Some(named) = named else { return Ok(all.clone()) };
    match named.iter().find(|name| !all.contains(name)) {
        Some(_) => {
            let message = "this session may not use all of these tools: it was created with fewer";
            Err(ErrorBody::new(Code::ToolNotAllowed, message).with("reason", "session"))
        }
        None => Ok(named),
    }
}
