//! `run_start`: tasks of origins.
//!
//! ```text
//!  run_start ─► run_event: (status | token | tool_call | tool_result)* (final | error) ─► the answer
//! ```
//!
//! Owns this form. A run ends with its request, however that ends: a page that is closed has nothing done for it.

use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{
    RunError, RunEvent, RunEventPush, RunMore, RunMoreResult, RunStart, RunStartResult,
};
use harbor_ipc_proto::codes::Code;
use harbor_policy::turn::Why;

use super::client::Client;
use super::client::stream::Stream;
use super::grants::asker;
use super::{Handled, Router, invalid, reply};
use crate::agent::happening::{Follower, Happening};
use crate::agent::{Outcome, Task};

/// The longest task, in bytes.
const LONGEST: usize = 1024 * 1024;

pub(super) async fn start(router: &Router, client: &Rc<Client>, id: &str, message: RunStart) -> Handled {
    let asker = asker(client, &message.origin, &message.profile, message.tab_id)?;
    if message.task.trim().is_empty() || message.task.len() > LONGEST {
        return Err(invalid("task", "a text of 1 MiB at most"));
    }
    let streams = message.stream == Some(true);
    let task = Task {
        task: message.task,
        tools: message.tools.filter(|_| message.use_all_tools != Some(true)),
        provider: message.provider,
        model: message.model,
        max_tool_calls: message.max_tool_calls,
    };
    let mut run = router.agent.start_run(asker, task).await?;
    let stream = streams.then(|| client.stream(&id.into(), message.credit == Some(true))).flatten();
    if let Some(stream) = stream {
        tell_all(&stream, &run.id, run.log.follow(0)).await;
    }
    let outcome = (&mut run.outcome).await;
    let outcome = outcome.map_err(|_| ErrorBody::new(Code::Internal, "the run has broken off"))?;
    answered(outcome, &run.id)
}

pub(super) fn more(client: &Client, message: &RunMore) -> Handled {
    reply(RunMoreResult { accepted: client.add_credit(&message.target, message.n) })
}

fn answered(outcome: Outcome, run: &str) -> Handled {
    let Outcome { text, ended, spent, error, .. } = outcome;
    match (error, ended) {
        (Some(error), _) => Err(error),
        (None, Why::Stopped) => Err(ErrorBody::new(Code::Cancelled, "the run was ended")),
        (None, _) => reply(RunStartResult {
            run_id: run.to_owned(),
            output: text,
            citations: None,
            usage: spent.view(),
        }),
    }
}

/// Pushes all that happens in a run, as fast as its reader gives credit.
async fn tell_all(stream: &Stream, run: &str, mut follower: Follower) {
    while let Some((_, event)) = follower.next(|happening| event(run, happening)).await {
        if let Some(event) = event {
            let run_id = run.to_owned();
            stream.push(|id, seq| RunEventPush { request_id: id.to_owned(), run_id, seq, event }).await;
        }
    }
}

/// What of a turn an origin hears: not what the model thinks, nor what the person is asked.
fn event(run: &str, happening: &Happening) -> Option<RunEvent> {
    let nothing = |kind: &'static str| RunEvent {
        r#type: kind.into(),
        runId: run.to_owned(),
        message: None,
        token: None,
        callId: None,
        tool: None,
        args: None,
        result: None,
        error: None,
        output: None,
        citations: None,
        usage: None,
    };
    Some(match happening {
        Happening::Status(text) => RunEvent { message: Some(text.clone()), ..nothing("status") },
        Happening::Text(text) => RunEvent { token: Some(text.clone()), ..nothing("token") },
        Happening::Call(call) => RunEvent {
            callId: Some(call.id.clone()),
            tool: Some(call.tool.clone()),
            args: Some(call.arguments.clone()),
            ..nothing("tool_call")
        },
        Happening::Result { call, answer, .. } => RunEvent {
            callId: Some(call.id.clone()),
            tool: Some(call.tool.clone()),
            result: answer.as_ref().ok().cloned(),
            error: answer.as_ref().err().map(failure),
            ..nothing("tool_result")
        },
        Happening::Final(output, _, usage) => {
            RunEvent { output: Some(output.clone()), usage: Some(usage.clone()), ..nothing("final") }
        }
        Happening::Error(error) => RunEvent { error: Some(failure(error)), ..nothing("error") },
        Happening::Reasoning(_) | Happening::Approval { .. } | Happening::Usage(_) => return None,
    })
}

fn failure(error: &ErrorBody) -> RunError {
    let retryable = [Code::RateLimited, Code::ServerUnavailable, Code::ToolTimeout, Code::ModelFailed];
    RunError {
        code: error.code.as_str().to_owned(),
        message: error.message.clone(),
        retryable: retryable.contains(&error.code),
    }
}
