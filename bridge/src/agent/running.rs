//! A run: a task of an origin, done by the person's model with the tools that the origin was granted.
//!
//! Owns that a run is one of `host`'s, with its limit of calls, and that it ends with whoever asked for it. Nothing of it is kept.

use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::model::{Part, ToolChoice};
use tokio::task::JoinHandle;

use super::happening::TurnLog;
use super::session::{Head, Mode, Session};
use super::{Agent, OnBehalf, Outcome, Said};
use crate::host::Host;
use crate::host::asker::Asker;

/// Calls of a run that does not say how many.
const CALLS: u32 = 5;

/// What an origin wants done.
#[derive(Debug)]
pub struct Task {
    /// In words.
    pub task: String,
    /// The tools, `source/tool`; all that it may call when absent.
    pub tools: Option<Vec<String>>,
    /// Which provider.
    pub provider: Option<String>,
    /// Which model.
    pub model: Option<String>,
    /// Calls at most.
    pub max_tool_calls: Option<u32>,
}

/// A run that is under way. It ends when this is dropped.
pub struct Run {
    /// Its id.
    pub id: String,
    /// What happens in it.
    pub log: Rc<TurnLog>,
    /// What comes of it.
    pub outcome: JoinHandle<Outcome>,
    session: Rc<Session>,
    host: Rc<Host>,
    asker: Asker,
}

impl Drop for Run {
    fn drop(&mut self) {
        self.session.end();
        // It may have gone stale, or with its client.
        let _ = self.host.runs.end(&self.asker, &self.id);
    }
}

impl Agent {
    /// Begins a run.
    ///
    /// # Errors
    /// Why it may not.
    pub async fn start_run(self: &Rc<Self>, asker: Asker, task: Task) -> Result<Run, ErrorBody> {
        // Permission comes before everything that could be found out.
        self.host.model_permit(&asker, true).await?;
        let calls = task.max_tool_calls.unwrap_or(CALLS);
        let (id, _) = self.host.create_run(&asker, Some(calls.max(1))).await?;
        let head = Head { model: task.model, ..Head::new(Mode::Ask, true) };
        let session = Session::new(id.clone(), head, Vec::new());
        let said = Said {
            parts: vec![Part::Text(task.task)],
            has_files: false,
            provider: task.provider,
            tools: task.tools,
            tool_choice: ToolChoice::Auto,
            max_tool_calls: Some(calls),
            max_tokens: None,
        };
        let on_behalf = OnBehalf::Origin(asker.clone(), id.clone());
        match self.say(&session, on_behalf, said).await {
            Ok((log, outcome)) => Ok(Run { id, log, outcome, session, host: self.host.clone(), asker }),
            Err(error) => {
                let _ = self.host.runs.end(&asker, &id);
                Err(error)
            }
        }
    }
}
