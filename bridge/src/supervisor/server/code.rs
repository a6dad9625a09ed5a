//! A script that runs once. It is a server of one tool, `run`, and has no name among servers.
//!
//! ```text
//!  Connect ─► contact ─► a call of `run` ─┬─ its questions `tools/call` ─► the audience answers
//!                                         └─ its answer; then its process is ended
//! ```
//!
//! Owns that process. Must never make a call of a tool: whoever answers the questions does, on the one road.

use std::rc::Rc;
use std::time::Duration;

use harbor_ipc_proto::link::runner::{Era, Launch, Operation, ToRunner};

use super::Server;
use super::engine::untried;
use crate::link::{Audience, CallResult, LinkEvent, TimeLimit, nobody_answers};
use crate::supervisor::start_error::StartError;

/// How long its interpreter may take until it answers.
const START: Duration = Duration::from_secs(20);

impl Server {
    /// Runs it, and gives its answer. Dropping this ends it.
    ///
    /// # Errors
    /// Why it could not be started. A script that is none fails so, too.
    pub async fn run_code(
        self: &Rc<Self>,
        limit: TimeLimit,
        audience: Audience,
    ) -> Result<CallResult, StartError> {
        let (launch, guard, mut events) = self.launched_aside(START).await?;
        // Only a server of this generation asks its client.
        let launch = Launch { known_era: Some(Era::Legacy), ..launch };
        let link = &guard.runner.link;
        link.send(&ToRunner::Connect { server: 0, launch });
        loop {
            match events.recv().await {
                Some(LinkEvent::Connected { .. }) => break,
                Some(LinkEvent::Ended { report, .. } | LinkEvent::Closed { report }) => {
                    return Err(StartError::Failed(report));
                }
                Some(_) => {}
                None => return Err(untried("its runner has ended".into())),
            }
        }
        let run = Operation::CallTool { name: "run".into(), arguments: "{}".into(), task: None };
        let call = match link.call(0, run, limit, audience) {
            Ok(call) => call,
            Err(error) => return Ok(Err(error)),
        };
        tokio::pin!(call);
        loop {
            tokio::select! {
                biased;
                ended = &mut call => return Ok(ended),
                event = events.recv() => if let Some(LinkEvent::Ask { ask, method, .. }) = event {
                    link.send(&ToRunner::Answer { server: 0, ask, answer: nobody_answers(&method) });
                },
            }
        }
    }
}
