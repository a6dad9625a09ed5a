//! `run_…` and `session_…`: tasks of origins, and the sessions that several of them share.
//!
//! ```text
//!  run_start ─► run_event: (status | token | tool_call | tool_result)* (final | error) ─► the answer
//!      └─ a call needs a yes ─► `approval`, to whoever shows questions (approvals.rs)
//! ```
//!
//! Owns this form. A run ends with its request, however the request ends: nothing is done for a page that is closed.

use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{
    RunError, RunEvent, RunEventPush, RunMore, RunMoreResult, RunStart, RunStartResult, SessionCreate,
    SessionCreateResult, SessionEnd, SessionEndResult, SessionGet, SessionGetResult, SessionList,
    SessionListResult,
};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::link::model::Cause;
use harbor_policy::turn::Why;

use super::client::Client;
use super::client::stream::Stream;
use super::grants::asker;
use super::reply::{Handled, reply};
use super::state::Router;
use crate::agent::turn_log::{Follower, TurnLogItem};
use crate::agent::{SessionTerms, Task, TurnOutcome};
use crate::host::invalid;
use crate::models::usage_for_origin;

/// The longest task, and the longest name of a session, in bytes.
const LONGEST: usize = 1024 * 1024;
const LONGEST_NAME: usize = 1000;

pub(super) async fn start(router: &Router, client: &Rc<Client>, id: &str, message: RunStart) -> Handled {
    let asker = asker(client, &message.origin, &message.profile, message.tab_id)?;
    if message.task.trim().is_empty() || message.task.len() > LONGEST {
        return Err(invalid("task", "a text of at most 1 MiB"));
    }
    let streams = message.stream == Some(true);
    let task = Task {
        task: message.task,
        tools: message.tools.filter(|_| message.use_all_tools != Some(true)),
        provider: message.provider,
        model: message.model,
        max_tool_calls: message.max_tool_calls,
        cites: message.require_citations == Some(true),
        session: message.session_id,
    };
    let mut run = router.agent.start_run(asker, task).await?;
    let stream = streams.then(|| client.stream(&id.into(), message.credit == Some(true))).flatten();
    if let Some(stream) = stream {
        tell_all(&stream, &run.id, run.log.follow(0)).await;
    }
    let outcome = (&mut run.outcome).await;
    let outcome = outcome.map_err(|_| ErrorBody::new(Code::Internal, "the run ended without a result"))?;
    run.took(&outcome);
    answered(outcome, &run.id)
}

pub(super) fn more(client: &Client, message: &RunMore) -> Handled {
    reply(RunMoreResult { accepted: client.add_credit(&message.target, message.n) })
}

pub(super) async fn create(router: &Router, client: &Client, message: SessionCreate) -> Handled {
    let asker = asker(client, &message.origin, &message.profile, message.tab_id)?;
    if message.name.as_ref().is_some_and(|name| name.len() > LONGEST_NAME) {
        return Err(invalid("name", "at most 1000 bytes"));
    }
    if message.system_prompt.as_ref().is_some_and(|system| system.len() > LONGEST) {
        return Err(invalid("system_prompt", "a text of at most 1 MiB"));
    }
    let temperature = temperature(message.temperature.as_ref())?;
    let wish = SessionTerms {
        name: message.name,
        llm: message.llm == Some(true),
        provider: message.provider,
        model: message.model,
        tools: message.tools.unwrap_or_default(),
        system: message.system_prompt,
        temperature,
        max_tool_calls: message.max_tool_calls,
        ttl_minutes: message.ttl_minutes,
    };
    let session = router.agent.create_owned(&asker, client.has_named_session(), wish).await?;
    reply(SessionCreateResult { session })
}

fn temperature(given: Option<&Json>) -> Result<Option<f64>, ErrorBody> {
    let Some(given) = given else { return Ok(None) };
    let number: Option<f64> = serde_json::from_str(given.as_str()).ok();
    let number = number.filter(|number| (0.0..=2.0).contains(number));
    number.map(Some).ok_or_else(|| invalid("temperature", "a number from 0 to 2"))
}

pub(super) fn get(router: &Router, client: &Client, message: &SessionGet) -> Handled {
    let asker = asker(client, &message.origin, &message.profile, message.tab_id)?;
    reply(SessionGetResult { session: router.agent.owned_view(&asker, &message.session_id)? })
}

pub(super) fn list(router: &Router, client: &Client, message: &SessionList) -> Handled {
    let asker = asker(client, &message.origin, &message.profile, message.tab_id)?;
    reply(SessionListResult { sessions: router.agent.owned_views(&asker) })
}

pub(super) fn end(router: &Router, client: &Client, message: &SessionEnd) -> Handled {
    let asker = asker(client, &message.origin, &message.profile, message.tab_id)?;
    reply(SessionEndResult { session: router.agent.end_owned(&asker, &message.session_id)? })
}

fn answered(outcome: TurnOutcome, run: &str) -> Handled {
    let TurnOutcome { text, ended, spent, citations, error, .. } = outcome;
    match (error, ended) {
        (Some(error), _) => Err(error),
        (None, Why::Stopped) => Err(stopped()),
        (None, _) => {
            let usage = usage_for_origin(spent.view());
            reply(RunStartResult { run_id: run.to_owned(), output: text, citations, usage })
        }
    }
}

/// Pushes all events of a run, as fast as its reader gives credit.
async fn tell_all(stream: &Stream, run: &str, mut follower: Follower) {
    while let Some((_, event)) = follower.next(|happening| event(run, happening)).await {
        let Some(event) = event else { continue };
        let push = async |event: RunEvent| {
            let run_id = run.to_owned();
            stream.push(|id, seq| RunEventPush { request_id: id.to_owned(), run_id, seq, event }).await
        };
        if !push(event.clone()).await
            && let Some(shorter) = shorter(event)
        {
            push(shorter).await;
        }
    }
}

/// An event without the part that is too large for a push. The last event is left out, since the answer says
/// the same and has no such limit.
fn shorter(event: RunEvent) -> Option<RunEvent> {
    let said = |what: &str| {
        let message = format!("{what} is too large for an event; only the model gets it");
        failure(&ErrorBody::new(Code::MessageTooLarge, message))
    };
    match &*event.r#type {
        "tool_call" => Some(RunEvent { args: None, error: Some(said("the arguments of the call")), ..event }),
        "tool_result" => Some(RunEvent { result: None, error: Some(said("the result")), ..event }),
        _ => None,
    }
}

/// The event of a turn as an origin hears it: without the model's thoughts and the questions to the person.
fn event(run: &str, happening: &TurnLogItem) -> Option<RunEvent> {
    let nothing = |kind| empty_event(run, kind);
    Some(match happening {
        TurnLogItem::Status(text) => RunEvent { message: Some(text.clone()), ..nothing("status") },
        TurnLogItem::Text(text) => RunEvent { token: Some(text.clone()), ..nothing("token") },
        TurnLogItem::Call(call) => RunEvent {
            callId: Some(call.id.clone()),
            tool: Some(call.tool.clone()),
            args: Some(call.arguments.clone()),
            ..nothing("tool_call")
        },
        TurnLogItem::Result { call, answer, .. } => RunEvent {
            callId: Some(call.id.clone()),
            tool: Some(call.tool.clone()),
            result: answer.as_ref().ok().cloned(),
            error: answer.as_ref().err().map(failure),
            ..nothing("tool_result")
        },
        // A run that was ended gives no answer.
        TurnLogItem::Final { ended, .. } if *ended == Why::Stopped.word() => {
            RunEvent { error: Some(failure(&stopped())), ..nothing("error") }
        }
        TurnLogItem::Final { text, usage, citations, .. } => RunEvent {
            output: Some(text.clone()),
            usage: Some(usage_for_origin(usage.clone())),
            citations: citations.clone(),
            ..nothing("final")
        },
        TurnLogItem::Error(error) => RunEvent { error: Some(failure(error)), ..nothing("error") },
        TurnLogItem::Message(_)
        | TurnLogItem::Reasoning(_)
        | TurnLogItem::Approval { .. }
        | TurnLogItem::Usage(_) => return None,
    })
}

/// An event that only says of what kind it is.
fn empty_event(run: &str, kind: &'static str) -> RunEvent {
    RunEvent {
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
    }
}

fn stopped() -> ErrorBody {
    ErrorBody::new(Code::Cancelled, "the run was ended")
}

/// The causes of a model's failure that may be gone at another attempt.
const PASSING: [Cause; 7] = [
    Cause::RateLimited,
    Cause::Overloaded,
    Cause::Unreachable,
    Cause::Timeout,
    Cause::Cut,
    Cause::WorkerLost,
    Cause::Empty,
];

fn is_retryable(error: &ErrorBody) -> bool {
    match error.code {
        Code::RateLimited | Code::ServerUnavailable | Code::ToolTimeout => true,
        Code::ModelFailed => PASSING.iter().any(|cause| error.has("cause", cause.name())),
        _ => false,
    }
}

fn failure(error: &ErrorBody) -> RunError {
    RunError {
        code: error.code.as_str().to_owned(),
        message: error.message.clone(),
        retryable: is_retryable(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_pass_can_be_tried_again() {
        let of_model = |cause: Cause| ErrorBody::new(Code::ModelFailed, "x").with("cause", cause.name());
        for (error, is_retryable) in [
            (of_model(Cause::Overloaded), true),
            (of_model(Cause::Cut), true),
            (of_model(Cause::Unauthorized), false),
            (of_model(Cause::Refused), false),
            (of_model(Cause::ContextFull), false),
            (ErrorBody::new(Code::ToolTimeout, "x"), true),
            (ErrorBody::new(Code::PermissionDenied, "x"), false),
            (stopped(), false),
        ] {
            assert_eq!(failure(&error).retryable, is_retryable, "{error:?}");
        }
    }
}
