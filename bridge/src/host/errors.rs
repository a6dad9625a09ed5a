//! What clients are told when a call or a start comes to nothing: one place for code, sentence and next step.

use std::time::Duration;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::lifecycle::State;

use crate::link::{CallError, EndReport, Failure};
use crate::supervisor::{NotRunning, StartError};

pub(super) fn not_found(id: &ServerId) -> ErrorBody {
    let message = format!("no server {id} is defined; list_servers shows those that are");
    ErrorBody::new(Code::NotFound, message).with("server_id", id.as_str())
}

pub(super) fn too_many(id: &ServerId) -> ErrorBody {
    let message = format!("too many requests are open on {id}; wait for answers before sending more");
    ErrorBody::new(Code::RateLimited, message).with("server_id", id.as_str())
}

fn timeout(id: &ServerId, limit: Duration) -> ErrorBody {
    let ms = limit.as_millis();
    let message = format!(
        "{id} did not answer within {ms} ms; it was told to stop. A longer timeout_ms gives it more time"
    );
    ErrorBody::new(Code::ToolTimeout, message).with("server_id", id.as_str())
}

pub(super) fn not_running(id: &ServerId, why: &NotRunning) -> ErrorBody {
    let state = why.state.as_str();
    let reason = why.last_end.as_ref().filter(|_| why.state == State::Failed);
    let reason = reason.map(|report| format!(" ({})", report.message)).unwrap_or_default();
    let message = format!("{id} is {state}{reason}; start it with mcp_connect");
    let error = ErrorBody::new(Code::ServerUnavailable, message).with("server_id", id.as_str());
    match &why.last_end {
        Some(report) if why.state == State::Failed => with_report(error, report),
        _ => error.with("cause", state),
    }
}

pub(super) fn lost(id: &ServerId, limit: Duration, why: &CallError) -> ErrorBody {
    let unavailable =
        |message: String| ErrorBody::new(Code::ServerUnavailable, message).with("server_id", id.as_str());
    match why {
        CallError::Ended(report) => {
            let message = format!("{id} is gone: {}. The call was not sent again", report.message);
            with_report(unavailable(message), report)
        }
        CallError::RunnerLost => {
            unavailable(format!("the runner of {id} is gone. The call was not sent again"))
                .with("cause", "runner_lost")
        }
        CallError::Timeout => timeout(id, limit),
        CallError::Congested => {
            unavailable(format!("the runner of {id} does not take any more")).with("cause", "congested")
        }
    }
}

pub(super) fn server_error(id: &ServerId, code: i64, message: &str, data: Option<Json>) -> ErrorBody {
    let error = ErrorBody::new(Code::ToolFailed, format!("{id} answered with an error: {message}"))
        .with("server_id", id.as_str())
        .with_json("code", Json::from_valid(code.to_string()))
        .with("message", message);
    match data {
        Some(data) => error.with_json("data", data),
        None => error,
    }
}

pub(super) fn no_answer(id: &ServerId, failure: &Failure) -> ErrorBody {
    let (code, message, cause) = match failure {
        Failure::NotConnected => {
            (Code::ServerUnavailable, format!("{id} does not take requests any more"), "not_connected")
        }
        Failure::NotOffered(what) => (Code::ToolFailed, format!("{id} does not offer {what}"), "not_offered"),
        Failure::Malformed(why) => {
            (Code::ProtocolError, format!("the answer of {id} breaks the protocol: {why}"), "malformed")
        }
        Failure::TooLarge(limit) => {
            (Code::ProtocolError, format!("the answer of {id} is longer than {limit} bytes"), "too_large")
        }
        Failure::Congested => {
            (Code::ServerUnavailable, format!("{id} does not read its input; restart it"), "congested")
        }
        Failure::InputRefused(why) => {
            (Code::ToolFailed, format!("{id} asked for input that it does not get: {why}"), "input_refused")
        }
    };
    ErrorBody::new(code, message).with("server_id", id.as_str()).with("cause", cause)
}

/// Why a server does not run although it was to be started.
#[must_use]
pub fn start_failed(id: &ServerId, why: &StartError) -> ErrorBody {
    match why {
        StartError::Failed(report) => {
            let message = format!("{id} could not be started: {}", report.message);
            with_report(
                ErrorBody::new(Code::ConnectionFailed, message).with("server_id", id.as_str()),
                report,
            )
        }
        StartError::Stopped => {
            let message = format!("{id} was stopped while it started");
            ErrorBody::new(Code::ConnectionFailed, message)
                .with("server_id", id.as_str())
                .with("cause", "stopped")
        }
    }
}

fn with_report(error: ErrorBody, report: &EndReport) -> ErrorBody {
    let error = error.with("cause", report.cause);
    if report.stderr_tail.is_empty() { error } else { error.with("stderr_tail", &report.stderr_tail) }
}
